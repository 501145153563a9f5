/** Signature, flags and length of the header extension. */
const HEADER_BYTES = 11 + 4 + 4

/**
 * Rows of a `COPY … TO STDOUT (FORMAT binary)` (PostgreSQL documentation: COPY, "Binary Format"); fields share memory
 * with `bytes`.
 * @throws Error when the stream is incomplete, or its rows have another number of fields
 */
export function readCopied(bytes: Buffer, fields: number): (Buffer | null)[][] {
  const rows: (Buffer | null)[][] = []
  let at = HEADER_BYTES + (bytes.length >= HEADER_BYTES ? bytes.readInt32BE(HEADER_BYTES - 4) : 0)
  for (;;) {
    if (at + 2 > bytes.length) throw new Error('a copied answer was cut off')
    const count = bytes.readInt16BE(at)
    at += 2
    if (count === -1) return rows
    if (count !== fields) throw new Error(`a copied row has ${count} fields instead of ${fields}`)
    const row: (Buffer | null)[] = []
    for (let field = 0; field < count; field++) {
      if (at + 4 > bytes.length) throw new Error('a copied answer was cut off')
      const length = bytes.readInt32BE(at)
      at += 4
      if (length > bytes.length - at) throw new Error('a copied answer was cut off')
      row.push(length < 0 ? null : bytes.subarray(at, at + length))
      at += Math.max(0, length)
    }
    rows.push(row)
  }
}
