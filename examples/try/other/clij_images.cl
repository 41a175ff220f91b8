// What clEsperanto's host code puts before its kernels, for images of one float.
#define IMAGE_src_TYPE __read_only image2d_t
#define IMAGE_dst_TYPE __write_only image2d_t
#define IMAGE_dst_PIXEL_TYPE float
#define READ_src_IMAGE(image, sampler, at) read_imagef(image, sampler, at)
#define WRITE_dst_IMAGE(image, at, value) write_imagef(image, at, (float4)(value, 0, 0, 1))
#define CONVERT_dst_PIXEL_TYPE(value) (value)
#define MAX_ARRAY_SIZE 81
