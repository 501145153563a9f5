import { rmSync } from 'node:fs'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrateJobs } from '#server/platform/jobs/run-jobs.ts'
import { migrate } from '#server/platform/storage/migrate.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { databaseUrl, TEMPLATE } from './database.ts'
import { databaseFolder } from './scratch.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Connection string of the run's PostgreSQL, for any database. */
    postgres: string
  }
}

/** Starts one PostgreSQL for the whole run and migrates one template, which every test file clones. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = databaseFolder('faultline-tests-')
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
