import { MAX_BYTES, type SymbolKind } from '../files/symbol-kinds.api.ts'

/** @returns a sentence about a file that the server would refuse; null when its size is allowed */
export function checkSize(sizeBytes: number, kind: SymbolKind): string | null {
  if (sizeBytes === 0) return 'The file is empty. Build it again.'
  const max = MAX_BYTES[kind]
  return sizeBytes > max ? `The file has ${sizeText(sizeBytes)}; at most ${sizeText(max)} are taken.` : null
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'] as const

/** `199 bytes`, `4.8 MiB`, `491 MiB` */
export function sizeText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power] ?? ''}`
}
