	.text
	.globl	sample
	.p2align	4, 0x90
	.type	sample,@function
sample:                                 # @sample
.Lfunc_begin0:
	.file	0 "." "sample.cl" md5 0x417167df5fb70c412d8ead89f78cfe53
	.cfi_startproc
# %bb.0:
	.file	1 "." "prelude.h" md5 0x51eba71d0da8527e6249f3b74a03a055
	.loc	1 3 60 prologue_end             # ./prelude.h:3:60
	movq	clcook_isa_ids@GOTPCREL(%rip), %r9
.Ltmp0:
	.loc	1 4 60                          # ./prelude.h:4:60
	movq	24(%r9), %r8
.Ltmp1:
	.loc	1 5 62                          # ./prelude.h:5:62
	movq	48(%r9), %rax
.Ltmp2:
	.loc	1 11 26                         # ./prelude.h:11:26
	imulq	(%r9), %rax
	.loc	1 11 46 is_stmt 0               # ./prelude.h:11:46
	addq	%r8, %rax
	.loc	1 11 64                         # ./prelude.h:11:64
	addq	96(%r9), %rax
.Ltmp3:
	.loc	0 6 21 is_stmt 1                # sample.cl:6:21
	testl	%edx, %edx
	.loc	0 6 3 is_stmt 0                 # sample.cl:6:3
	jle	.LBB0_1
# %bb.3:
	.loc	0 6 21                          # sample.cl:6:21
	movl	%edx, %edx
	movslq	%eax, %r9
	.loc	0 6 3                           # sample.cl:6:3
	leaq	(%rdi,%r9,4), %rdi
	vxorps	%xmm0, %xmm0, %xmm0
	xorl	%r9d, %r9d
	vmovss	.LCPI0_0(%rip), %xmm1           # xmm1 = [5.0E-1,0.0E+0,0.0E+0,0.0E+0]
	.p2align	4, 0x90
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	.loc	0 7 11 is_stmt 1                # sample.cl:7:11
	vfmadd213ss	(%rdi,%r9,4), %xmm1, %xmm0 # xmm0 = (xmm1 * xmm0) + mem
	.loc	0 6 26                          # sample.cl:6:26
	incq	%r9
	.loc	0 6 21 is_stmt 0                # sample.cl:6:21
	cmpq	%r9, %rdx
	.loc	0 6 3                           # sample.cl:6:3
	jne	.LBB0_4
	jmp	.LBB0_2
.LBB0_1:
	.loc	0 0 3                           # sample.cl:0:3
	vxorps	%xmm0, %xmm0, %xmm0
.LBB0_2:
	.loc	0 9 3 is_stmt 1                 # sample.cl:9:3
	movslq	%r8d, %rdx
	.loc	0 9 15 is_stmt 0                # sample.cl:9:15
	vmovss	%xmm0, (%rcx,%rdx,4)
.Ltmp4:
	.loc	1 13 52 is_stmt 1               # ./prelude.h:13:52
	#APP
	#NO_APP
.Ltmp5:
	.loc	0 11 12                         # sample.cl:11:12
	xorq	$1, %rdx
	vmovss	(%rcx,%rdx,4), %xmm0            # xmm0 = mem[0],zero,zero,zero
	.loc	0 11 3 is_stmt 0                # sample.cl:11:3
	cltq
	.loc	0 11 10                         # sample.cl:11:10
	vmovss	%xmm0, (%rsi,%rax,4)
	.loc	0 12 1 is_stmt 1                # sample.cl:12:1
	retq
.Ltmp6:
.Lfunc_end0:
	.size	sample, .Lfunc_end0-sample
	.cfi_endproc
                                        # -- End function
	.globl	calls                           # -- Begin function calls
	.p2align	4, 0x90
	.type	calls,@function
calls:                                  # @calls
.Lfunc_begin1:
	.loc	0 14 0                          # sample.cl:14:0
	.cfi_startproc
# %bb.0:
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	movq	%rdi, %rbx
.Ltmp6:
	.loc	0 14 57 prologue_end            # sample.cl:14:57
	vmovss	4(%rdi), %xmm0                  # xmm0 = mem[0],zero,zero,zero
	.loc	0 14 53 is_stmt 0               # sample.cl:14:53
	callq	_Z3expf@PLT
.Ltmp7:
	.loc	0 14 51                         # sample.cl:14:51
	vmovss	%xmm0, (%rbx)
	.loc	0 14 66 epilogue_begin          # sample.cl:14:66
	popq	%rbx
	.cfi_def_cfa_offset 8
	retq
.Ltmp8:
.Lfunc_end1:
	.size	calls, .Lfunc_end1-calls
	.cfi_endproc
                                        # -- End function
