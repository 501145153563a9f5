import { createSocket } from 'node:dgram'

export type TxtServer = {
  /** `address:port`. */
  readonly address: string
  /** Sets the answer for a name: records, no such name, a failure. */
  set(name: string, answer: readonly string[] | 'unknown' | 'failure'): void
  close(): Promise<void>
}

/** A DNS server that knows TXT records only. */
export async function txtServer(): Promise<TxtServer> {
  const names = new Map<string, readonly string[] | 'unknown' | 'failure'>()
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const labels: string[] = []
    let at = 12
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += length + 1
    }
    const answer = names.get(labels.join('.').toLowerCase()) ?? 'unknown'
    const texts = typeof answer === 'string' ? [] : answer
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(0x8180 | (answer === 'unknown' ? 3 : answer === 'failure' ? 2 : 0), 2)
    header.writeUInt16BE(texts.length, 6)
    header.writeUInt32BE(0, 8)
    const records = texts.map((text) => {
      const data = Buffer.from(text)
      return Buffer.concat([Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 9, 0, data.length + 1, data.length]), data])
    })
    socket.send(Buffer.concat([header, query.subarray(12, at + 5), ...records]), from.port, from.address)
  })
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve)
  })
  return {
    address: `127.0.0.1:${socket.address().port}`,
    set: (name, answer) => void names.set(name, answer),
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}
