import { MAX_BYTES, type SymbolKind } from '../files/symbol-kinds.api.ts'
import { sizeText } from './size-text.ts'

/** @returns a sentence about a file that the server would refuse; null when its size is allowed */
export function checkSize(sizeBytes: number, kind: SymbolKind): string | null {
  if (sizeBytes === 0) return 'The file is empty. Build it again.'
  const max = MAX_BYTES[kind]
  return sizeBytes > max ? `The file has ${sizeText(sizeBytes)}; at most ${sizeText(max)} are taken.` : null
}
