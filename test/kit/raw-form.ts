/** Parts of a multipart form as a hostile client may write them: nothing is escaped, and nothing needs to be complete. */

const BOUNDARY = 'a-boundary-of-tests'

export const FORM_HEADERS = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }

const aPart = (head: string, content: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\ncontent-disposition: form-data; ${head}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])

export const fieldPart = (name: string, value: string | Buffer): Buffer => aPart(`name="${name}"`, value)

export const filePart = (content: string | Buffer, filename = 'app.js.map', field = 'file'): Buffer =>
  aPart(`name="${field}"; filename="${filename}"`, content)

export const formOf = (...parts: readonly Buffer[]): Buffer =>
  Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)])
