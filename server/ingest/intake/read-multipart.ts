import { setImmediate } from 'node:timers/promises'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { type AppError, invalid, tooLarge } from '../../platform/kernel/errors.ts'

export type FilePart = {
  readonly field: string
  /** As sent; must be sanitised before use. */
  readonly filename: string
  readonly contentType: string
  readonly content: Buffer
}

type Multipart = {
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly files: readonly FilePart[]
}

/**
 * Limits of one request. Uploads by members have ten fields; crash handlers send one field per annotation, and three
 * files in addition to the 30 attachments of an event (docs/decisions/attachments-crashes-feedback.md).
 */
const LIMITS = {
  fields: 200,
  fieldNameSize: 300,
  fieldSize: 64 * 1024,
  files: 33,
  parts: 240,
  headerPairs: 20,
  headerSize: 16 * 1024,
}
const SLICE_BYTES = 1024 * 1024
/** Far more than parsing from memory takes; bounds a parser that never ends. */
const MAX_MS = 20_000

/**
 * Parses a multipart body. It leaves out parts over a limit: fields that are too long, fields and files over the
 * maximum number.
 * @param contentType the header, with its boundary
 * @throws AppError `invalid` when it is no multipart body or is incomplete, `too_large` above 240 parts
 */
export async function readMultipart(body: Buffer, contentType: string): Promise<Multipart> {
  if (countOf(body, boundaryOf(contentType), LIMITS.parts) > LIMITS.parts)
    throw tooLarge(`A form may hold at most ${LIMITS.parts} parts.`)
  const fields: [string, string][] = []
  const files: FilePart[] = []
  let parser: BusboyInstance
  try {
    parser = new Busboy({ headers: { 'content-type': contentType }, limits: LIMITS })
  } catch {
    throw unreadable()
  }
  parser.on('field', (name, value, nameTruncated, valueTruncated) => {
    if (!nameTruncated && !valueTruncated && typeof name === 'string') fields.push([name, String(value)])
  })
  parser.on('file', (field, stream, filename, _encoding, partType) => {
    const pieces: Buffer[] = []
    stream.on('data', (piece: Buffer) => pieces.push(piece))
    // An incomplete part fails the whole request by another event; without a listener its error would end the process.
    stream.on('error', () => {})
    stream.on('end', () => {
      files.push({
        field: String(field),
        filename: filename ?? '',
        contentType: partType,
        content: joined(pieces),
      })
    })
  })
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(unreadable()), MAX_MS)
    const fail = (): void => {
      clearTimeout(timer)
      reject(unreadable())
    }
    parser.on('error', fail)
    parser.on('finish', () => {
      clearTimeout(timer)
      resolve()
    })
    feed(parser, body).catch(fail)
  })
  return { fields, files }
}

/** Joins the pieces of one file. They are usually adjacent in the body, where copying 100 MiB can be avoided. */
function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces
  if (first === undefined) return Buffer.alloc(0)
  let end = first.byteOffset
  for (const piece of pieces) {
    if (piece.buffer !== first.buffer || piece.byteOffset !== end) return Buffer.concat(pieces)
    end += piece.length
  }
  return Buffer.from(first.buffer, first.byteOffset, end - first.byteOffset)
}

/** Empty when there is none; the parser reports that. */
function boundaryOf(contentType: string): string {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? []
  return quoted ?? plain ?? ''
}

/**
 * Counts the parts, up to `max` + 1. The parser ignores parts over its limit but still creates them (measured: 100 MiB of
 * memory for a hundred thousand).
 */
function countOf(body: Buffer, boundary: string, max: number): number {
  if (boundary === '') return 0
  const delimiter = Buffer.from(`--${boundary}`, 'latin1')
  let count = 0
  for (
    let at = body.indexOf(delimiter);
    at !== -1 && count <= max + 1;
    at = body.indexOf(delimiter, at + delimiter.length)
  )
    count++
  // The last boundary closes the form.
  return count - 1
}

/** In slices: parsing 100 MiB in one go would block other requests. */
async function feed(parser: BusboyInstance, body: Buffer): Promise<void> {
  for (let at = 0; at < body.length; at += SLICE_BYTES) {
    if (parser.destroyed) return
    await new Promise<void>((resolve) => parser.write(body.subarray(at, at + SLICE_BYTES), () => resolve()))
    await setImmediate()
  }
  parser.end()
}

const unreadable = (): AppError => invalid('The body is not complete multipart/form-data.')
