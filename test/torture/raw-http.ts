import { connect } from 'node:net'

export type RawAnswer = {
  /** All bytes that came back. */
  readonly text: string
  readonly statuses: readonly number[]
  /** Whether the other side closed the connection within the patience. */
  readonly closed: boolean
  readonly ms: number
}

/**
 * Writes bytes to a new connection, as no HTTP client would, and reads until the other side closes it.
 * @param options.patienceMs how long to wait for that
 * @param options.oneAnswer ends after one complete response
 * @param options.momentMs ends when nothing more came for this time after the first bytes
 */
export function sendRaw(
  url: string,
  bytes: Buffer,
  options: { patienceMs?: number; oneAnswer?: boolean; momentMs?: number } = {},
): Promise<RawAnswer> {
  const { patienceMs = 2_000, oneAnswer = false, momentMs } = options
  const { hostname, port } = new URL(url)
  const startedMs = performance.now()
  return new Promise((resolve) => {
    let text = ''
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    const finish = (closed: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      const statuses = [...text.matchAll(/^HTTP\/1\.[01] (\d{3})/gm)].map(([, status]) => Number(status))
      resolve({ text, statuses, closed, ms: performance.now() - startedMs })
    }
    let timer = setTimeout(() => finish(false), patienceMs)
    socket.on('connect', () => socket.write(bytes))
    socket.on('data', (data) => {
      text += data.toString('latin1')
      if (oneAnswer && isWhole(text)) return finish(false)
      if (momentMs === undefined) return
      clearTimeout(timer)
      timer = setTimeout(() => finish(false), momentMs)
    })
    socket.on('error', () => {})
    socket.on('close', () => finish(true))
  })
}

/** Ours all have a length, or end with their connection. */
function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n')
  const length = /^content-length: (\d+)/im.exec(text.slice(0, head))?.[1]
  return head !== -1 && length !== undefined && text.length >= head + 4 + Number(length)
}
