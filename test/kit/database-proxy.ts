import { once } from 'node:events'
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

/** How the network treats bytes. */
export type NetworkFaults = {
  /** Every chunk is delayed by this, half of it in each direction. */
  readonly latencyMs?: number
  /** Bytes are dropped and connections stay open, as by a firewall that lost its state. */
  readonly silent?: boolean
  /** New and existing connections are cut. */
  readonly reset?: boolean
  /** This share of chunks waits for `stallMs`, and everything behind it: a packet that was lost and sent again. */
  readonly stalledShare?: number
  readonly stallMs?: number
}

export type DatabaseProxy = {
  /** The given address, through the proxy. */
  readonly connectionString: string
  /** Changes the treatment from now on. `{}` ends connections that were silent, as a network does in the end. */
  setFaults(next: NetworkFaults): void
  connections(): number
  close(): Promise<void>
}

/** A network between a service and its database that can fail. Reaches databases behind a unix socket too. */
export async function startDatabaseProxy(
  connectionString: string,
  rand: () => number = Math.random,
): Promise<DatabaseProxy> {
  const url = new URL(connectionString)
  const folder = url.searchParams.get('host')
  const target: NetConnectOpts =
    folder === null
      ? { host: url.hostname, port: Number(url.port || 5432) }
      : { path: `${folder}/.s.PGSQL.${url.port || '5432'}` }
  let faults: NetworkFaults = {}
  const pairs = new Set<{ client: Socket; database: Socket; swallowed: boolean }>()

  const server = createServer({ noDelay: true }, (client) => {
    client.on('error', () => {})
    if (faults.reset === true) {
      client.resetAndDestroy()
      return
    }
    const database = connect(target)
    const pair = { client, database, swallowed: false }
    pairs.add(pair)
    const end = (): void => {
      pairs.delete(pair)
      client.destroy()
      // A database that does not learn of its client's end continues to wait.
      if (!pair.swallowed) database.destroy()
      else pairs.add(pair)
    }
    carry(client, database, pair)
    carry(database, client, pair)
    database.on('error', () => {}).on('close', end)
    client.on('close', end)
  })

  const carry = (from: Socket, to: Socket, pair: { swallowed: boolean }): void => {
    let free = Promise.resolve()
    from.on('data', (chunk: Buffer) => {
      if (faults.silent === true) pair.swallowed = true
      if (pair.swallowed) return
      const stalls = rand() < (faults.stalledShare ?? 0)
      const waitMs = (faults.latencyMs ?? 0) / 2 + (stalls ? (faults.stallMs ?? 0) : 0)
      if (waitMs === 0) {
        void free.then(() => to.writable && to.write(chunk))
        return
      }
      const due = new Promise<void>((resolve) => {
        setTimeout(resolve, waitMs)
      })
      // In order, and none before its time.
      free = free.then(() => due).then(() => void (to.writable && to.write(chunk)))
    })
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  url.searchParams.delete('host')
  url.hostname = '127.0.0.1'
  url.port = String(port)
  const endAll = (which: (pair: { swallowed: boolean }) => boolean): void => {
    for (const pair of pairs) {
      if (!which(pair)) continue
      pairs.delete(pair)
      pair.client.destroy()
      pair.database.destroy()
    }
  }
  return {
    connectionString: url.toString(),
    setFaults(next) {
      faults = next
      if (next.reset === true) {
        for (const { client } of pairs) client.resetAndDestroy()
        endAll(() => true)
      } else if (next.silent !== true) endAll(({ swallowed }) => swallowed)
    },
    connections: () => pairs.size,
    async close() {
      endAll(() => true)
      server.close()
      await once(server, 'close')
    },
  }
}
