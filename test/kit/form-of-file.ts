const BOUNDARY = 'a-boundary-of-tests'

/** A multipart form with one file in the field `file`, as the body and headers of a request. */
export function formOfFile(
  filename: string,
  content: string,
  fields: Readonly<Record<string, string>> = {},
): { readonly raw: string; readonly headers: Readonly<Record<string, string>> } {
  const parts = [
    ...Object.entries(fields).map(([name, value]) => `content-disposition: form-data; name="${name}"\r\n\r\n${value}`),
    `content-disposition: form-data; name="file"; filename="${filename}"\r\ncontent-type: application/octet-stream\r\n\r\n${content}`,
  ]
  return {
    raw: `${parts.map((part) => `--${BOUNDARY}\r\n${part}\r\n`).join('')}--${BOUNDARY}--\r\n`,
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
  }
}
