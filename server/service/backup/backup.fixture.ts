import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../platform/kernel/clock.ts'
import { onTestFinished } from 'vitest'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { createPool } from '../../platform/storage/pool.ts'
import { Database } from '../../platform/storage/database.ts'
import type { BackupKey } from './backup-key.ts'
import type { BackupPlace } from './backup-place.ts'
import { folderPlace } from './folder-place.ts'
import { restoreBackup } from './restore-backup.ts'
import { verifyBackup } from './verify-backup.ts'
import { type BackupOptions, type ShowProgress, writeBackup } from './write-backup.ts'

/** Backups and restores in tests. */

/** A service with an owner, a project and an issue of three events, which writes nothing more by itself. */
export async function serverToBackUp() {
  const t = await testServer({ realTime: true })
  const owner = await t.founder()
  const project = await t.project(owner)
  await t.issue({ project, by: owner, times: 3 })
  await waitFor('the key to be seen', async () => {
    const { rows } = await t.app.db.query('select 1 from project_keys where last_seen_at is null')
    return rows.length === 0
  })
  return t
}

export function backupFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'faultline-backup-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return join(path, 'backups')
}

export const nothing = (): void => {}
export const never = new AbortController().signal

export const backUp = (
  from: { readonly connectionString: string; readonly dataDir: string },
  folder: string | BackupPlace,
  options: Partial<BackupOptions> = {},
) =>
  writeBackup({
    connectionString: from.connectionString,
    dataDir: from.dataDir,
    place: placeOf(folder),
    version: 'test',
    clock: systemClock,
    key: null,
    keep: null,
    progress: nothing,
    signal: never,
    ...options,
  })

const placeOf = (folder: string | BackupPlace): BackupPlace =>
  typeof folder === 'string' ? folderPlace(folder) : folder

export async function restore(
  folder: string | BackupPlace,
  connectionString: string,
  options: {
    readonly key?: BackupKey | null
    readonly name?: string
    readonly log?: (line: string) => void
    readonly progress?: ShowProgress
  } = {},
) {
  const { key = null, name = null, log = nothing, progress = nothing } = options
  const backup = await verifyBackup(placeOf(folder), name, { key, opener: null, progress: nothing, signal: never })
  return restoreBackup(connectionString, backup, { progress, log, signal: never })
}

/** A checksum of every table of a database, read as text in an order of its own; also its schema. */
export async function contentsOf(connectionString: string): Promise<Record<string, string>> {
  const db = new Database(createPool({ connectionString, name: 'test contents', max: 1, onError: nothing }))
  try {
    const { rows } = await db.query<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where relkind = 'r' and (nspname = current_schema() or nspname = 'graphile_worker')
         and relname not in ('schema_migrations', 'migrations') order by 1`,
    )
    const contents: Record<string, string> = {}
    for (const { name } of rows) {
      const { rows: sums } = await db.query<{ sum: string }>(
        `select count(*) || ' ' || coalesce(sum(hashtextextended(t::text, 0)), 0) as sum from ${name} t`,
      )
      contents[name] = sums[0]?.sum ?? ''
    }
    return contents
  } finally {
    await db.close()
  }
}

/** Indexes, constraints, triggers and sequences of a database, as statements. */
export async function schemaOf(connectionString: string): Promise<string[]> {
  const db = new Database(createPool({ connectionString, name: 'test schema', max: 1, onError: nothing }))
  try {
    const { rows } = await db.query<{ line: string }>(
      `with ours as (select oid from pg_namespace where nspname = current_schema() or nspname = 'graphile_worker')
       select pg_get_indexdef(i.indexrelid) || ' valid ' || i.indisvalid as line
       from pg_index i join pg_class c on c.oid = i.indexrelid where c.relnamespace in (select oid from ours)
       union all
       select k.conrelid::regclass || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid)
       from pg_constraint k where k.connamespace in (select oid from ours) and k.conrelid <> 0
       union all
       select pg_get_triggerdef(g.oid) || ' ' || g.tgenabled::text from pg_trigger g join pg_class c on c.oid = g.tgrelid
       where c.relnamespace in (select oid from ours) and not g.tgisinternal
       union all
       select c.oid::regclass || ' ' || coalesce(array_to_string(c.reloptions, ','), '') from pg_class c
       where c.relkind in ('r', 'p', 'v') and c.relnamespace in (select oid from ours)
       union all
       select c.oid::regclass || '.' || a.attname || ' ' || a.attstorage::text || a.attnotnull || ' ' || coalesce(a.attstattarget, -1)
       from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped and c.relnamespace in (select oid from ours)
       union all
       select schemaname || '.' || sequencename || ' ' || coalesce(last_value::text, '') from pg_sequences
       order by 1`,
    )
    return rows.map(({ line }) => line)
  } finally {
    await db.close()
  }
}
