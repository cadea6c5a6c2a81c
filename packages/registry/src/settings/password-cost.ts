/** The parameters of Argon2id. */
export type PasswordCost = { memoryKib: number; passes: number }

/** The parameters that OWASP recommends. */
export const recommendedCost: PasswordCost = { memoryKib: 19_456, passes: 2 }
