/** Patterns of LIKE. */

export const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, '\\$&')
export const toLikePattern = (glob: string): string => escapeLike(glob).replaceAll('*', '%')
