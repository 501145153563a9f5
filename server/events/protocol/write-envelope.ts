import type { JsonRecord } from './json.ts'

export type NewItem = { readonly type: string; readonly headers?: JsonRecord; readonly payload: Buffer | string }

/** Writes an envelope by the grammar of docs/protocol.md §4.1, each item with its length. */
export function writeEnvelope(header: JsonRecord, items: readonly NewItem[]): Buffer {
  const parts: Buffer[] = [Buffer.from(`${JSON.stringify(header)}\n`)]
  for (const { type, headers, payload } of items) {
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload
    parts.push(Buffer.from(`${JSON.stringify({ ...headers, type, length: bytes.length })}\n`), bytes, NEWLINE)
  }
  return Buffer.concat(parts)
}

const NEWLINE = Buffer.from('\n')
