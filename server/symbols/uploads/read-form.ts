import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import type { Upload } from '../../platform/context/handlers.ts'
import { AppError, invalid, unavailable } from '../../platform/kernel/errors.ts'

/** A form whose files were written to a folder. */
export type Form = {
  /** The first value of each field. */
  readonly fields: ReadonlyMap<string, string>
  readonly files: readonly FormFile[]
}

export type FormFile = {
  /** Name of the field. */
  readonly field: string
  /** As sent: never a path of this machine. */
  readonly filename: string
  readonly path: string
}

const KIB = 1024
/** Bounds of the parts of a form; the size of the whole is bounded by the route. */
const limitsOf = (maxFiles: number) => ({
  fields: 10,
  fieldNameSize: 100,
  fieldSize: 64 * KIB,
  files: maxFiles,
  parts: maxFiles + 10,
  headerPairs: 20,
  headerSize: 16 * KIB,
})

/**
 * Writes the files of a multipart form to a folder while they arrive, and returns the fields.
 * @throws AppError invalid (no form, incomplete, too many parts), unavailable (the file cannot be written), and what reading
 *   the upload throws
 */
export async function readForm({ contentType, content }: Upload, folder: string, maxFiles = 1): Promise<Form> {
  let parser: BusboyInstance
  try {
    parser = new Busboy({ headers: { 'content-type': contentType ?? '' }, limits: limitsOf(maxFiles) })
  } catch {
    throw invalid('Send the body as multipart/form-data with the field file.')
  }
  const fields = new Map<string, string>()
  const files: FormFile[] = []
  const written: Promise<void>[] = []
  const stopped = new AbortController()
  const refuse = (error: AppError): void => void parser.destroy(error)
  parser.on('field', (name, value, nameTruncated, valueTruncated) => {
    if (nameTruncated || valueTruncated) refuse(invalid('A field of the form may have at most 64 KiB.'))
    else if (value.includes('\0')) refuse(invalid(`${name} must not hold the NUL character.`))
    else if (!fields.has(name)) fields.set(name, value)
  })
  parser.on('file', (field, stream, filename) => {
    const path = join(folder, `part-${files.length}`)
    files.push({ field, filename: filename ?? '', path })
    const writing = pipeline(stream, createWriteStream(path, { mode: 0o600 }), { signal: stopped.signal })
    writing.catch(() => refuse(noRoom()))
    written.push(writing)
  })
  parser.on('filesLimit', () => {
    refuse(invalid(maxFiles === 1 ? 'Send one file per request.' : `Send at most ${maxFiles} files per request.`))
  })
  for (const event of ['fieldsLimit', 'partsLimit'] as const)
    parser.on(event, () => {
      refuse(invalid('The form has too many parts.'))
    })
  try {
    await pipeline(content, parser)
  } catch (error) {
    // The parser does not end the file that it was in.
    stopped.abort()
    await Promise.allSettled(written)
    throw error instanceof AppError ? error : invalid('The body is not complete multipart/form-data.')
  }
  await Promise.all(written).catch(() => {
    throw noRoom()
  })
  return { fields, files }
}

const noRoom = (): AppError => unavailable('The service has no room for the file at the moment. Try again later.', 60)
