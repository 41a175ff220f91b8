"""Skinned vertices of a crowd."""
from peers import cpp_loop, gcc_version, numpy_version, peer, torch_event, torch_version, wall

CASES = {
    "cpu": [("8192 vertices, 64 instances, 64 bones", "vertices=8192 instances=64 bones=64")],
    "gpu": [("8192 vertices, 256 instances, 64 bones", "vertices=8192 instances=256 bones=64")],
}
QUICK = "vertices=1009 instances=7 bones=64"


def draw(of):
    return (f"vertices={of.whole(1000, 100000)} instances={of.whole(1, 100)} "
            f"bones={of.whole(4, 256)}")


def sizes(case):
    return case.shape["vertices"], case.shape["instances"], case.shape["bones"]


@peer("C++ loop", "cpu", gcc_version)
def loop(case):
    return cpp_loop(case, sizes(case))


def arrays(case, np):
    """Vectors (vertices, 2, 4) with their fourth component, joints, weights, matrices of 3 rows."""
    vertices, instances, bones = sizes(case)
    width = case.bytes("vertices") // (vertices * 8)
    rows = case.bytes("world") // (instances * 16)
    vectors = np.zeros((vertices, 2, 4), np.float32)
    vectors[:, 0, 3] = 1
    vectors[..., :3] = case.array("vertices", np.float32, vertices, 2, width)[..., :3]
    skin = case.array("skin", np.uint8, vertices, 8)
    joints = np.minimum(skin[:, :4], bones - 1).astype(np.int64)
    world = case.array("world", np.float32, instances, rows, 4)[:, :3]
    poses = case.array("bones", np.float32, instances, bones, rows, 4)[:, :, :3]
    return (vectors, joints, skin[:, 4:].astype(np.float32) / np.float32(255),
            np.ascontiguousarray(world), np.ascontiguousarray(poses))


def stored(case, out, np):
    """(instances, vertices, 2, 3) as the chosen variant stores it."""
    vertices, instances, _ = sizes(case)
    width = case.bytes("result") // (vertices * instances * 8)
    if width == 3:
        return {"result": np.ascontiguousarray(out)}
    result = np.zeros((instances, vertices, 2, 4), np.float32)
    result[..., 0, 3] = 1
    result[..., :3] = out
    return {"result": result}


@peer("NumPy, einsum and matmul", "cpu", numpy_version)
def numpy_einsum(case):
    import numpy as np
    vectors, joints, weights, world, poses = arrays(case, np)

    def call():
        out = np.empty((len(world), len(vectors), 2, 3), np.float32)
        for i, (place, pose) in enumerate(zip(world, poses)):
            blended = np.einsum("vk,vkrc->vrc", weights, pose[joints])
            moved = np.einsum("vrc,vhc->vhr", blended, vectors)
            out[i] = moved @ place[:, :3].T
            out[i, :, 0] += place[:, 3]
        return out
    run = wall(call)
    return run, lambda: stored(case, run.out, np)


@peer("PyTorch, einsum and matmul", "gpu", torch_version)
def torch_einsum(case):
    import numpy as np
    import torch
    torch.backends.cuda.matmul.allow_tf32 = False
    vectors, joints, weights, world, poses = (torch.from_numpy(one).cuda()
                                              for one in arrays(case, np))
    turned = world[:, :, :3].transpose(1, 2).contiguous()
    moved_by = world[:, None, :, 3].contiguous()

    def call():
        blended = torch.einsum("vk,ivkrc->ivrc", weights, poses[:, joints])
        moved = torch.einsum("ivrc,vhc->ivhr", blended, vectors)
        out = torch.matmul(moved.flatten(1, 2), turned).view(moved.shape)
        out[:, :, 0] += moved_by
        return out
    run = torch_event(call)
    return run, lambda: stored(case, run.out.cpu().numpy(), np)
