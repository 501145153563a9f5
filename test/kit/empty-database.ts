import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { databaseUrl } from './database.ts'

/** A database without tables; `connect` returns clients. Clients and database are removed after the test. */
export async function emptyDatabase(): Promise<{ connectionString: string; connect(): Promise<pg.Client> }> {
  const name = `test_${process.pid}_${randomBytes(5).toString('hex')}`
  const connectionString = databaseUrl(inject('postgres'), name)
  const admin = new pg.Client({ connectionString: databaseUrl(inject('postgres'), 'postgres') })
  await admin.connect()
  await admin.query(`create database ${name}`)
  const clients: pg.Client[] = []
  onTestFinished(async () => {
    await Promise.all(clients.map((client) => client.end()))
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  })
  return {
    connectionString,
    async connect() {
      const client = new pg.Client({ connectionString })
      client.on('error', () => {})
      clients.push(client)
      await client.connect()
      return client
    },
  }
}
