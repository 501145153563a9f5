import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * The format of the spool's file: segments, each with records one after the other. A record is a head, the bodies of a row
 * and its packed entries. A segment is written again from its start when all of its rows are settled: records of the same
 * use have the same token, and ids that follow one another, so that what an earlier use left is none of them.
 */

/** Rows in the file have ids from this one on, rows in the table smaller ones. */
const FIRST_FILE_ID = 2 ** 52
export const isInFile = (id: number): boolean => id >= FIRST_FILE_ID

/** Ids for at most a thousand rows in a millisecond; those of a later start are higher. */
export const firstIdAt = (now: Date): number => FIRST_FILE_ID + now.getTime() * 1_000

export const SEGMENT_BYTES = 8 * 1024 * 1024
export const HEAD_BYTES = 48
const TOKEN_BYTES = 8
const MAGIC = 0x31_53_4c_46

/** Names one use of a segment. */
export const newToken = (): Buffer => randomBytes(TOKEN_BYTES)

export type FileRow = {
  readonly id: number
  readonly projectNumber: number
  readonly receivedAtMs: number
  readonly entryCount: number
  readonly bodyBytes: number
  /** The bodies, then the packed entries. */
  readonly bytes: Buffer
}

/** The head of a record; `row.bytes` follow it. */
export function recordHead(token: Buffer, row: FileRow): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(MAGIC, 4)
  token.copy(head, 8)
  head.writeBigUInt64LE(BigInt(row.id), 16)
  head.writeDoubleLE(row.receivedAtMs, 24)
  head.writeUInt32LE(row.projectNumber, 32)
  head.writeUInt32LE(row.entryCount, 36)
  head.writeUInt32LE(row.bodyBytes, 40)
  head.writeUInt32LE(row.bytes.length - row.bodyBytes, 44)
  head.writeUInt32LE(checksum(head, row.bytes))
  return head
}

const checksum = (head: Buffer, bytes: Buffer): number => crc32(bytes, crc32(head.subarray(4)))

/** The row whose record begins at `at`; null when there is no whole record. Shares memory with `segment`. */
export function readRecord(segment: Buffer, at: number): { readonly token: Buffer; readonly row: FileRow } | null {
  const head = segment.subarray(at, at + HEAD_BYTES)
  if (head.length < HEAD_BYTES || head.readUInt32LE(4) !== MAGIC) return null
  const bodyBytes = head.readUInt32LE(40)
  const length = bodyBytes + head.readUInt32LE(44)
  const bytes = segment.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length)
  if (bytes.length < length || head.readUInt32LE() !== checksum(head, bytes)) return null
  return {
    token: head.subarray(8, 8 + TOKEN_BYTES),
    row: {
      id: Number(head.readBigUInt64LE(16)),
      projectNumber: head.readUInt32LE(32),
      receivedAtMs: head.readDoubleLE(24),
      entryCount: head.readUInt32LE(36),
      bodyBytes,
      bytes,
    },
  }
}

/** The rows that the last use of a segment wrote, up to the first record that is not whole. */
export function readRecords(segment: Buffer): FileRow[] {
  const rows: FileRow[] = []
  const first = readRecord(segment, 0)
  let next = first
  for (let at = 0; next !== null; next = readRecord(segment, at)) {
    const { token, row } = next
    if (first?.token.equals(token) !== true || row.id !== first.row.id + rows.length) break
    rows.push(row)
    at += HEAD_BYTES + row.bytes.length
  }
  return rows
}
