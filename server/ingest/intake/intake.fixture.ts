import { request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { App } from '../../platform/context/app.ts'
import { clientAddressReader } from '../../service/http/request-guard.ts'
import { createOrderlyServer } from '../../service/http/connection-end.ts'
import { claimShards, settleBatches } from '../spool/read.ts'
import type { SpoolEntry } from '../spool/entry.ts'
import { createIntake, type Intake, type IntakeOptions } from './create-intake.ts'

export type Answer = { status: number; headers: Record<string, string | string[] | undefined>; text: string }

export type TestIntake = {
  readonly intake: Intake
  readonly port: number
  /** Sends one request; the answer is null when the connection was cut. */
  send(options: {
    url: string
    method?: string
    headers?: Record<string, string>
    body?: Buffer | string
  }): Promise<Answer>
  /** A plain connection, for bytes that no HTTP client sends. */
  socket(): Promise<Socket>
  /** Takes all entries off the spool, oldest first. */
  takeAll(): Promise<SpoolEntry[]>
  close(): Promise<void>
}

/** The intake behind a node:http server with the limits of the real one. */
export async function testIntake(app: App, options: Partial<IntakeOptions> = {}): Promise<TestIntake> {
  const intake = createIntake(app, {
    addressOf: clientAddressReader(app.config.trustedProxies),
    ...options,
  })
  const server = createOrderlyServer(
    { headersTimeout: 10_000, requestTimeout: 600_000, connectionsCheckingInterval: 1_000 },
    (request, response) => {
      if (!intake.handle(request, response)) response.writeHead(418).end()
    },
  )
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    intake,
    port,
    send: ({ url, method = 'POST', headers = {}, body }) =>
      new Promise((resolve, reject) => {
        const request = httpRequest(
          { port, host: '127.0.0.1', path: url, method, headers, agent: false },
          (response) => {
            let text = ''
            response.setEncoding('latin1')
            response.on('data', (chunk: string) => {
              text += chunk
            })
            response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
            response.on('error', reject)
          },
        )
        request.on('error', reject)
        request.end(body)
      }),
    socket: () =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => resolve(socket))
        socket.on('error', () => {})
      }),
    async takeAll() {
      const reader = await claimShards(app)
      const entries: SpoolEntry[] = []
      for (const part of reader.parts()) {
        const batches = await reader.read(part, { maxRows: 10_000, maxBytes: 1 << 30 })
        entries.push(...batches.flatMap((batch) => batch.entries))
        await app.tx((tx) => settleBatches(tx, part, batches))
      }
      await reader.close()
      return entries
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
      await intake.close()
    },
  }
}

/** Inserts an organisation and a project with one key. */
export async function seedProject(
  app: App,
  { number, publicKey, region = 'eu-central-1' }: { number: number; publicKey: string; region?: string },
): Promise<{ projectId: string; keyId: string }> {
  const hex = number.toString(16).padStart(12, '0')
  const projectId = `01890000-0000-7000-8000-${hex}`
  const keyId = `01890000-0000-7000-9000-${hex}`
  await app.db.query(`insert into orgs (id, slug, name, data_key_sealed, created_at) values ($1, $2, 'Org', 'x', $3)`, [
    projectId,
    `org-${number}`,
    app.clock.now(),
  ])
  await app.db.query(
    `insert into projects (id, number, org_id, name, slug, platform, region, created_at) values ($1, $2, $1, 'Project', 'project', 'web', $3, $4)`,
    [projectId, number, region, app.clock.now()],
  )
  await app.db.query('insert into project_keys (id, project_id, public_key, created_at) values ($1, $2, $3, $4)', [
    keyId,
    projectId,
    publicKey,
    app.clock.now(),
  ])
  return { projectId, keyId }
}
