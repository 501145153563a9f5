import { z } from 'zod'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { type CodeHost, StoredRoots } from './code-host.api.ts'
import { type CodeHostRow, selectCodeHost, selectNewestDeliveries } from './code-hosts.queries.ts'
import { countPaths, measureCommits } from './commits.queries.ts'

const SHOWN_DELIVERIES = 5

export const webhookUrl = (app: App, projectId: string): string =>
  `${app.config.publicUrl}/api/integrations/codehost/webhook?project=${projectId}`

/** @throws AppError not_found */
export async function viewCodeHost(app: App, actor: OrgActor, projectId: string): Promise<CodeHost> {
  await requireProject(app, actor, projectId)
  const row = await selectCodeHost(app.db, projectId)
  const [deliveries, { commits }, files] = await Promise.all([
    selectNewestDeliveries(app.db, projectId, SHOWN_DELIVERIES),
    measureCommits(app.db, projectId),
    countPaths(app.db, projectId),
  ])
  const [newest] = deliveries
  return {
    state: stateOf(row, app.clock.now()),
    provider: row?.provider ?? null,
    repository_url: row?.repository_url ?? null,
    webhook_url: webhookUrl(app, projectId),
    default_branch: row?.default_branch ?? null,
    has_token: row !== undefined && row.token_sealed !== null,
    connected_at: textOf(row?.created_at),
    secret_created_at: textOf(row?.secret_at),
    last_received:
      newest === undefined
        ? null
        : { event: newest.event, summary: newest.summary, at: newest.received_at.toISOString() },
    last_refused_at: textOf(row?.refused_at),
    last_sent: row?.sent_at == null ? null : { text: row.sent ?? '', at: row.sent_at.toISOString() },
    last_error: row?.error_at == null ? null : { text: row.error ?? '', at: row.error_at.toISOString() },
    broken_since: textOf(row?.broken_at),
    slowed_until: textOf(row?.slowed_until),
    commit_count: commits,
    file_count: files,
    source_roots: readRoots(row),
    owners: {
      is_read: row?.reads_owners ?? false,
      path: row?.owners_path ?? null,
      rules: row?.owners_rules ?? 0,
      unknown: z.array(z.string()).catch([]).parse(row?.owners_unknown),
      read_at: textOf(row?.owners_read_at),
    },
    deliveries: deliveries.map(({ delivery_id: id, event, state, summary, received_at: at }) => ({
      id,
      event,
      state,
      summary,
      at: at.toISOString(),
    })),
  }
}

/** Roots as they are tried: typed ones first. */
export const readRoots = (row: Pick<CodeHostRow, 'source_roots'> | undefined): z.infer<typeof StoredRoots> =>
  StoredRoots.catch([]).parse(row?.source_roots)

function stateOf(row: CodeHostRow | undefined, now: Date): CodeHost['state'] {
  if (row === undefined) return 'not_connected'
  if (row.broken_at !== null) return 'broken'
  return row.error_at !== null || (row.slowed_until !== null && row.slowed_until > now) ? 'slowed_down' : 'works'
}

const textOf = (time: Date | null | undefined): string | null => time?.toISOString() ?? null
