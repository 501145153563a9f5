import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { orgBySlug, selectOwners } from '../../identity/auth/auth.queries.ts'
import type { JobActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'
import { readProjectBySlug } from '../../projects/registry/projects.queries.ts'
import { changeImport } from '../imports/change-import.ts'
import { createImport } from '../imports/create-import.ts'
import { importFile } from '../imports/import-file.ts'
import { IMPORT_KINDS, type Import } from '../imports/imports.api.ts'
import { listDifferences, readImport } from '../imports/view-import.ts'
import { progressLine } from './progress-line.ts'
import { withApp } from './with-app.ts'

/** Commands of imports (docs/import.md). The running service does the work; the command shows how far it is. */

const POLL_MS = 500
const SILENT_MS = 20_000

export const importSentryCommand = (options: {
  readonly url: string
  readonly org: string
  readonly sourceOrg?: string
  readonly token?: string
}): Promise<void> =>
  withApp(async (app) => {
    const actor = await ownerOf(app, options.org)
    const token = options.token ?? (await text(process.stdin)).trim()
    const given = { url: options.url, organisation: options.sourceOrg ?? options.org, token }
    const { id, mapping } = await createImport(app, actor, given)
    for (const { source_slug: slug, slug: here } of mapping) console.log(`${slug} → ${here}`)
    await changeImport(app, actor, id, { state: 'running' })
    const ended = await follow(app, actor, id)
    const { items } = await listDifferences(app, actor, id)
    return [
      ...items.map(({ kind, count, reason, instead }) => `${kind}: ${count} × ${reason} ${instead}`),
      ended.state === 'done'
        ? `Imported ${countedWord(ended.counts.issues?.done ?? 0, 'issue')} from ${ended.source_org}. Nothing was sent to anyone.`
        : `The import is ${ended.state}. ${ended.problem ?? ''}`.trim(),
    ]
  })

export const importEventsCommand = (
  files: readonly string[],
  options: { readonly org: string; readonly project: string },
): Promise<void> =>
  withApp(async (app) => {
    const actor = await ownerOf(app, options.org)
    const project = await readProjectBySlug(app.db, actor.orgId, options.project)
    if (project === null) throw notFound(`Project ${options.project}`)
    const lines: string[] = []
    let events = 0
    for (const file of files) {
      const show = progressLine()
      const done = await importFile(
        app,
        project,
        file,
        ({ bytes, totalBytes, events: stored }) => show(bytes, totalBytes, `${file}: ${countedWord(stored, 'event')}`),
        new AbortController().signal,
      ).catch((error: unknown) => {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') throw notFound(`File ${file}`)
        throw error
      })
      events += done.events
      for (const [reason, count] of done.skipped)
        lines.push(`${file}: ${countedWord(count, 'line')} left out: ${reason}.`)
    }
    return [...lines, `Imported ${countedWord(events, 'event')} into ${project.slug}. Nothing was sent to anyone.`]
  })

/** Acts as the first owner of the organisation. */
async function ownerOf(app: App, slug: string): Promise<JobActor> {
  const orgId = (await orgBySlug(app.db, slug))?.id
  if (orgId === undefined) throw notFound(`Organisation ${slug}`)
  const [owner] = await selectOwners(app.db, orgId)
  if (owner === undefined) throw conflict(`${slug} has no active owner. Create one: owner create --org ${slug}.`)
  return {
    kind: 'user',
    userId: owner.id,
    name: owner.name,
    orgId,
    role: 'owner',
    sessionId: null,
    origin: { kind: 'system', operation: 'import' },
    requestId: null,
  }
}

/** Shows the progress until the import ends or waits for a person. */
async function follow(app: App, actor: JobActor, importId: string): Promise<Import> {
  const show = progressLine()
  let last = ''
  let changedMs = performance.now()
  let isHinted = false
  for (;;) {
    const now = await readImport(app, actor, importId)
    if (now.state !== 'running') return now
    const [done, total] = [now.counts.issues?.done ?? 0, now.counts.issues?.total ?? 0]
    const state = IMPORT_KINDS.map((kind) => `${kind} ${now.counts[kind]?.done ?? 0}`).join(', ')
    show(done, total, `${now.now ?? ''}  ${state}${now.problem === null ? '' : `  ${now.problem}`}`)
    if (state !== last) changedMs = performance.now()
    last = state
    if (!isHinted && now.problem === null && performance.now() - changedMs > SILENT_MS) {
      isHinted = true
      console.error('Nothing moves: is the service running? Start it, the import then continues.')
    }
    await delay(POLL_MS)
  }
}
