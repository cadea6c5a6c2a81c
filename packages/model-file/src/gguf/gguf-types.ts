/** Tensor types and file types of GGUF, from ggml's `ggml_type` and llama.cpp's `llama_ftype` enumerations. */

export type TensorType = {
  name: string
  /** Elements per block. A row (the first dimension) consists of whole blocks. */
  blockSize: number
  bytesPerBlock: number
}

/** By ggml type ID. The IDs 4 and 5 (Q4_2 and Q4_3) were never used in GGUF files. */
const tensorTypes: Record<
  number,
  readonly [name: string, blockSize: number, bytesPerBlock: number]
> = {
  0: ['F32', 1, 4],
  1: ['F16', 1, 2],
  2: ['Q4_0', 32, 18],
  3: ['Q4_1', 32, 20],
  6: ['Q5_0', 32, 22],
  7: ['Q5_1', 32, 24],
  8: ['Q8_0', 32, 34],
  9: ['Q8_1', 32, 40],
  10: ['Q2_K', 256, 84],
  11: ['Q3_K', 256, 110],
  12: ['Q4_K', 256, 144],
  13: ['Q5_K', 256, 176],
  14: ['Q6_K', 256, 210],
  15: ['Q8_K', 256, 292],
  16: ['IQ2_XXS', 256, 66],
  17: ['IQ2_XS', 256, 74],
  18: ['IQ3_XXS', 256, 98],
  19: ['IQ1_S', 256, 50],
  20: ['IQ4_NL', 32, 18],
  21: ['IQ3_S', 256, 110],
  22: ['IQ2_S', 256, 82],
  23: ['IQ4_XS', 256, 136],
  24: ['I8', 1, 1],
  25: ['I16', 1, 2],
  26: ['I32', 1, 4],
  27: ['I64', 1, 8],
  28: ['F64', 1, 8],
  29: ['IQ1_M', 256, 56],
  30: ['BF16', 1, 2],
  // 31 to 33 and 36 to 38 are interleaved layouts that llama.cpp no longer loads, but files that use them still exist.
  31: ['Q4_0_4_4', 32, 18],
  32: ['Q4_0_4_8', 32, 18],
  33: ['Q4_0_8_8', 32, 18],
  34: ['TQ1_0', 256, 54],
  35: ['TQ2_0', 256, 66],
  36: ['IQ4_NL_4_4', 32, 18],
  37: ['IQ4_NL_4_8', 32, 18],
  38: ['IQ4_NL_8_8', 32, 18],
  39: ['MXFP4', 32, 17],
  40: ['NVFP4', 64, 36],
  41: ['Q1_0', 128, 18],
  42: ['Q2_0', 64, 18],
}

const tensorTypeById = new Map<number, TensorType>(
  Object.entries(tensorTypes).map(([id, [name, blockSize, bytesPerBlock]]) => [
    Number(id),
    { name, blockSize, bytesPerBlock },
  ]),
)
const tensorTypeIdByName = new Map([...tensorTypeById].map(([id, { name }]) => [name, id]))

export function findTensorType(id: number): TensorType | undefined {
  return tensorTypeById.get(id)
}

export function findTensorTypeId(name: string): number | undefined {
  return tensorTypeIdByName.get(name)
}

/** Labels by `general.file_type`, which indicates the type of most two-dimensional tensors. */
const fileTypes: Record<number, string> = {
  0: 'F32',
  1: 'F16',
  2: 'Q4_0',
  3: 'Q4_1',
  7: 'Q8_0',
  8: 'Q5_0',
  9: 'Q5_1',
  10: 'Q2_K',
  11: 'Q3_K_S',
  12: 'Q3_K_M',
  13: 'Q3_K_L',
  14: 'Q4_K_S',
  15: 'Q4_K_M',
  16: 'Q5_K_S',
  17: 'Q5_K_M',
  18: 'Q6_K',
  19: 'IQ2_XXS',
  20: 'IQ2_XS',
  21: 'Q2_K_S',
  22: 'IQ3_XS',
  23: 'IQ3_XXS',
  24: 'IQ1_S',
  25: 'IQ4_NL',
  26: 'IQ3_S',
  27: 'IQ3_M',
  28: 'IQ2_S',
  29: 'IQ2_M',
  30: 'IQ4_XS',
  31: 'IQ1_M',
  32: 'BF16',
  33: 'Q4_0_4_4',
  34: 'Q4_0_4_8',
  35: 'Q4_0_8_8',
  36: 'TQ1_0',
  37: 'TQ2_0',
  38: 'MXFP4_MOE',
  39: 'NVFP4',
  40: 'Q1_0',
  41: 'Q2_0',
}

/** llama.cpp sets this bit if it guessed the type from the tensors. */
const guessedFileType = 1024

/** Returns the label of a `general.file_type`, such as `Q4_K_M`. */
export function findFileTypeLabel(fileType: number): string | undefined {
  return fileTypes[fileType % guessedFileType]
}
