/** Most characters of an expression somebody may write (kernel/linear-pattern.ts). */
export const MOST_PATTERN_CHARACTERS = 300
