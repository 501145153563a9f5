export const isSwiftName = (raw: string): boolean => /^_{0,2}\$[sSe]/.test(raw)

export function demangleSwift(_raw: string): string | undefined {
  return undefined
}
