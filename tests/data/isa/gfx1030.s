	.text
	.globl	sample                          ; -- Begin function sample
	.p2align	8
	.type	sample,@function
sample:                                 ; @sample
sample$local:
	.type	sample$local,@function
.Lfunc_begin0:
	.file	0 "." "sample.cl" md5 0x417167df5fb70c412d8ead89f78cfe53
	.cfi_sections .debug_frame
	.cfi_startproc
; %bb.0:
	.loc	0 2 16 prologue_end             ; sample.cl:2:16
	s_clause 0x3
	s_load_dword s3, s[0:1], 0x18
	s_load_dword s10, s[0:1], 0x40
	s_load_dwordx2 s[8:9], s[0:1], 0x34
	s_load_dwordx4 s[4:7], s[0:1], 0x24
	v_mov_b32_e32 v4, 0
	s_waitcnt lgkmcnt(0)
	s_mul_i32 s3, s3, s2
	s_add_u32 s0, s10, s3
	.loc	0 6 21                          ; sample.cl:6:21
	s_cmp_lt_i32 s8, 1
	.loc	0 2 16                          ; sample.cl:2:16
	v_add_co_u32 v1, null, s0, v0
	.loc	0 6 3                           ; sample.cl:6:3
	s_cbranch_scc1 .LBB0_3
; %bb.1:
	.loc	0 0 3 is_stmt 0                 ; sample.cl:0:3
	v_mov_b32_e32 v2, v1
.LBB0_2:                                ; =>This Inner Loop Header: Depth=1
	.loc	0 7 26 is_stmt 1                ; sample.cl:7:26
	v_ashrrev_i32_e32 v3, 31, v2
	.loc	0 6 21                          ; sample.cl:6:21
	s_add_i32 s8, s8, -1
	s_cmp_eq_u32 s8, 0
	.loc	0 7 26                          ; sample.cl:7:26
	v_lshlrev_b64 v[5:6], 2, v[2:3]
	.loc	0 6 21                          ; sample.cl:6:21
	v_add_nc_u32_e32 v2, 1, v2
	.loc	0 7 26                          ; sample.cl:7:26
	v_add_co_u32 v5, vcc_lo, s4, v5
	v_add_co_ci_u32_e32 v6, vcc_lo, s5, v6, vcc_lo
	global_load_dword v3, v[5:6], off
	v_mov_b32_e32 v5, v4
	.loc	0 7 11 is_stmt 0                ; sample.cl:7:11
	s_waitcnt vmcnt(0)
	v_mov_b32_e32 v4, v3
	v_fmac_f32_e32 v4, 0.5, v5
	.loc	0 6 3 is_stmt 1                 ; sample.cl:6:3
	s_cbranch_scc0 .LBB0_2
.LBB0_3:
	.loc	0 11 12                         ; sample.cl:11:12
	v_xor_b32_e32 v2, 1, v0
	.loc	0 9 3                           ; sample.cl:9:3
	v_lshl_add_u32 v0, v0, 2, s9
	.loc	0 11 12                         ; sample.cl:11:12
	v_lshl_add_u32 v2, v2, 2, s9
	.loc	0 9 15                          ; sample.cl:9:15
	ds_write_b32 v0, v4
	.loc	0 10 3                          ; sample.cl:10:3
	s_waitcnt vmcnt(15) lgkmcnt(0)
	s_barrier
	.loc	0 11 3                          ; sample.cl:11:3
	v_mov_b32_e32 v0, 0
	.loc	0 11 12 is_stmt 0               ; sample.cl:11:12
	ds_read_b32 v2, v2
	.loc	0 11 3                          ; sample.cl:11:3
	v_ashrrev_i64 v[0:1], 30, v[0:1]
	v_add_co_u32 v0, vcc_lo, s6, v0
	v_add_co_ci_u32_e32 v1, vcc_lo, s7, v1, vcc_lo
	.loc	0 11 10                         ; sample.cl:11:10
	s_waitcnt lgkmcnt(0)
	global_store_dword v[0:1], v2, off
	.loc	0 12 1 is_stmt 1                ; sample.cl:12:1
	s_endpgm
.Ltmp0:
.Lfunc_end0:
	.size	sample, .Lfunc_end0-sample
	.size	sample$local, .Lfunc_end0-sample
	.cfi_endproc
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 220
; NumSgprs: 13
; NumVgprs: 7
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 0
; NumSGPRsForWavesPerEU: 13
; NumVGPRsForWavesPerEU: 7
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 2
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
	.section	.AMDGPU.config,"",@progbits
	.long	47176
	.long	1622081536
	.long	47180
	.long	132
	.long	47200
	.long	0
	.long	4
	.long	0
	.long	8
	.long	0
	.text
	.globl	calls                           ; -- Begin function calls
	.p2align	8
	.type	calls,@function
calls:                                  ; @calls
calls$local:
	.type	calls$local,@function
.Lfunc_begin1:
	.cfi_startproc
; %bb.0:
	.loc	0 14 57 prologue_end            ; sample.cl:14:57
	s_load_dwordx2 s[34:35], s[2:3], 0x24
	s_mov_b32 s36, SCRATCH_RSRC_DWORD0
	v_lshlrev_b32_e32 v2, 20, v2
	v_lshlrev_b32_e32 v1, 10, v1
	s_mov_b32 s37, SCRATCH_RSRC_DWORD1
	s_mov_b32 s38, -1
	s_mov_b32 s39, 0x31c16000
	s_add_u32 s36, s36, s9
	s_addc_u32 s37, s37, 0
	v_or3_b32 v31, v0, v1, v2
	s_mov_b32 s14, s8
	.loc	0 14 53 is_stmt 0               ; sample.cl:14:53
	s_add_u32 s8, s2, 44
	s_mov_b64 s[10:11], s[4:5]
	s_addc_u32 s9, s3, 0
	s_mov_b64 s[4:5], s[0:1]
	s_mov_b64 s[0:1], s[36:37]
	s_mov_b32 s12, s6
	s_mov_b64 s[2:3], s[38:39]
	s_mov_b32 s32, 0
	.loc	0 14 57                         ; sample.cl:14:57
	v_mov_b32_e32 v40, 0
	s_waitcnt lgkmcnt(0)
	s_load_dword s13, s[34:35], 0x4
	.loc	0 14 53                         ; sample.cl:14:53
	s_getpc_b64 s[16:17]
	s_add_u32 s16, s16, _Z3expf@rel32@lo+4
	s_addc_u32 s17, s17, _Z3expf@rel32@hi+12
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s13
	s_mov_b32 s13, s7
	s_swappc_b64 s[30:31], s[16:17]
.Ltmp4:
	.loc	0 14 51                         ; sample.cl:14:51
	global_store_dword v40, v0, s[34:35]
	.loc	0 14 66                         ; sample.cl:14:66
	s_endpgm
.Ltmp5:
.Lfunc_end1:
	.size	calls, .Lfunc_end1-calls
	.size	calls$local, .Lfunc_end1-calls
	.cfi_endproc
                                        ; -- End function
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 160
; NumSgprs: 42
; NumVgprs: 41
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 5
; VGPRBlocks: 5
; NumSGPRsForWavesPerEU: 42
; NumVGPRsForWavesPerEU: 41
; Occupancy: 16
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 1
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 1
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 2
