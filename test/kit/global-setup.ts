import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrateJobs } from '#server/jobs/run-jobs.ts'
import { migrate } from '#server/storage/migrate.ts'
import { startEmbeddedPostgres } from '#server/embedded-postgres/start.ts'
import { databaseUrl, TEMPLATE } from './database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Connection string of the run's PostgreSQL, for any database. */
    postgres: string
  }
}

const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 2 * 2 ** 30

/**
 * In memory where there is room: cloning a database, which most test files do, takes 20 ms of processor time there and
 * 400 ms in a journaling file system.
 */
function folderOfDatabases(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    if (bavail * bsize >= ENOUGH_BYTES) return mkdtempSync(join(MEMORY, 'faultline-tests-'))
  } catch {
    // Linux only.
  }
  return mkdtempSync(join(tmpdir(), 'faultline-tests-'))
}

/** Starts one PostgreSQL for the whole run and migrates one template, which every test file clones. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = folderOfDatabases()
  const postgres = await startEmbeddedPostgres({ dataDir: folder, log: () => {}, durability: 'none-for-tests' })
  const admin = new pg.Client({ connectionString: postgres.connectionString })
  await admin.connect()
  await admin.query(`create database ${TEMPLATE}`)
  await admin.end()
  const template = new pg.Client({ connectionString: databaseUrl(postgres.connectionString, TEMPLATE) })
  await template.connect()
  await migrate(template)
  await template.end()
  await migrateJobs(databaseUrl(postgres.connectionString, TEMPLATE))
  project.provide('postgres', postgres.connectionString)
  return async () => {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
