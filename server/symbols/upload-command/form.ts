import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { type PlannedUpload, UploadError } from './plan.ts'

/** A multipart form whose file is read while it is sent. */
export type Form = {
  readonly contentType: string
  readonly sizeBytes: number
  /** The bytes, from the start each time. @throws UploadError when the file changes meanwhile */
  content(): AsyncGenerator<Buffer>
}

/** @param onBytes is called with the number of bytes of the file that were sent so far */
export function buildForm({ path, sizeBytes, fields }: PlannedUpload, onBytes: (bytes: number) => void): Form {
  const boundary = `faultline-${randomBytes(16).toString('hex')}`
  const part = (disposition: string, value: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n${value}`
  const head = Buffer.from(
    Object.entries(fields)
      .map(([name, value]) => part(`name="${name}"`, `\r\n${value}\r\n`))
      .join('') +
      part(`name="file"; filename="${quoted(basename(path))}"`, 'content-type: application/octet-stream\r\n\r\n'),
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    sizeBytes: head.length + sizeBytes + tail.length,
    async *content() {
      let sent = 0
      onBytes(sent)
      yield head
      const file: AsyncIterable<Buffer> = createReadStream(path, { end: sizeBytes - 1 })
      for await (const bytes of file) {
        yield bytes
        sent += bytes.length
        onBytes(sent)
      }
      if (sent !== sizeBytes)
        throw new UploadError(`${path} changed while it was sent. Run this when the build has ended.`)
      yield tail
    },
  }
}

/** As browsers write names of files in forms. */
const quoted = (name: string): string =>
  name.replace(/["\r\n]/gu, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
