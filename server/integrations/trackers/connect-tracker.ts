import { createHash } from 'node:crypto'
import { orgSealer } from '../../identity/auth/org-sealer.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { memberBehind, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { type AppError, conflict, invalid, notFound, unavailable } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { newOneTimeToken } from '../../platform/kernel/one-time-token.ts'
import { closeLane } from '../../platform/outbox/close-lane.ts'
import { hastenLane } from '../../platform/outbox/hasten-lane.ts'
import { changeLane, openLane } from '../../platform/outbox/change-lane.ts'
import { selectCodeHost } from '../code-host/code-hosts.queries.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { sealTracker, type TrackerConfig, type TrackerProvider } from './config.ts'
import { LINEAR_URL } from './linear.ts'
import { selectVendor } from './open-vendor.ts'
import type { Tracker } from './tracker.ts'
import { TrackerError } from './tracker-error.ts'
import { TRACKER_CHANNEL } from './record-trackers.ts'
import {
  changeIntegration,
  deleteIntegration,
  insertIntegration,
  lockIntegration,
  selectIntegration,
} from './trackers.queries.ts'
import { readConfig } from './with-tracker.ts'
import { viewTracker, webhookPath } from './view-tracker.ts'

export type TrackerInput = {
  readonly provider: TrackerProvider
  readonly base_url?: string | undefined
  readonly api_key?: string | undefined
  readonly email?: string | undefined
  readonly api_token?: string | undefined
  readonly team_id?: string | undefined
}

type Connecting = TrackerInput & {
  readonly type_id?: string | undefined
  readonly webhook_secret?: string | undefined
  readonly sync_states?: boolean | undefined
}

/** Teams and types that credentials offer. @throws AppError not_found, invalid (a field), unavailable */
export async function listChoices(app: App, actor: OrgActor, projectId: string, input: TrackerInput) {
  await requireProject(app, actor, projectId)
  const config = await configOf(app, actor, projectId, input)
  const tracker = selectVendor(app, config, projectId)
  const { account } = await tried(config, () => tracker.readAccount())
  const teams = await tried(config, () => tracker.listTeams())
  const teamId = input.team_id ?? (teams.length === 1 ? teams[0]?.id : undefined)
  const types = teamId === undefined ? [] : await tried(config, () => tracker.listTypes(teamId))
  return { account, teams, types }
}

/**
 * Tries credentials, then stores them sealed. Tickets of the same workspace stay linked; what waits for it is sent.
 * @throws AppError not_found, invalid (a field), conflict (another member connects), unavailable
 */
export async function connectTracker(app: App, actor: OrgActor, projectId: string, input: Connecting) {
  await requireProject(app, actor, projectId)
  const config = await configOf(app, actor, projectId, input)
  const tracker = selectVendor(app, config, projectId)
  const { workspace, account } = await tried(config, () => tracker.readAccount())
  const { team, type } = await chosen(tracker, config, input)
  const token = newOneTimeToken()
  const now = app.clock.now()
  const { id, secret } = await app.tx(async (tx) => {
    const before = await lockIntegration(tx, actor.orgId, projectId)
    const isSame = before?.provider === input.provider && before.workspace === workspace
    if (before !== undefined && !isSame) {
      await closeLane(tx, before.id, 'tracker_disconnected')
      await deleteIntegration(tx, before.id)
    }
    const rowId = isSame ? before.id : newId()
    // Linear makes the secret of its webhook itself: new credentials must not lose it.
    const kept =
      isSame && config.provider === 'tracker_a' && config.webhook_secret !== '' ? config.webhook_secret : token
    const secret = input.webhook_secret ?? kept
    const row = {
      provider: input.provider,
      config_sealed: sealTracker(
        await orgSealer(app, actor.orgId, tx),
        actor.orgId,
        rowId,
        config.provider === 'codehost' ? config : { ...config, webhook_secret: secret },
      ),
      token_hash: trackerTokenHash(token),
      workspace,
      account,
      team_id: team.id,
      team_name: team.name,
      type_id: type?.id ?? null,
      type_name: type?.name ?? null,
      sync_states: input.sync_states ?? before?.sync_states ?? true,
      updated_at: now,
      last_error: null,
      last_error_at: null,
      broken_at: null,
      slowed_until: null,
    }
    if (isSame) {
      await changeIntegration(tx, rowId, row)
      await changeLane(tx, rowId, { isPaused: false })
      await hastenLane(tx, rowId)
    } else {
      const created = { created_by: memberBehind(actor)?.userId ?? null, created_at: now }
      const isMade = await insertIntegration(tx, {
        id: rowId,
        org_id: actor.orgId,
        project_id: projectId,
        ...row,
        ...created,
      })
      if (!isMade) throw conflict('Another member has just connected a tracker. Look again.')
      await openLane(tx, { id: rowId, orgId: actor.orgId, channel: TRACKER_CHANNEL, maxInFlight: 1, isStrict: true })
    }
    await recordFacts(tx, factContext(app, actor, now), [
      {
        kind: 'integration.tracker.connected',
        orgId: actor.orgId,
        projectId,
        targetId: rowId,
        label: team.name,
        data: { name: team.name },
      },
    ])
    return { id: rowId, secret }
  })
  const stored = await selectIntegration(app.db, actor.orgId, projectId)
  const path = webhookPath({ id, provider: input.provider })
  const url = `${app.config.publicUrl}${path}${input.provider === 'tracker_b' ? `&token=${token}` : ''}`
  return { ...viewTracker(stored, now), webhook: path === null ? null : { url, secret } }
}

/** Tickets stay linked. @throws AppError not_found */
export async function disconnectTracker(app: App, actor: OrgActor, projectId: string): Promise<void> {
  await requireProject(app, actor, projectId)
  await app.tx(async (tx) => {
    const row = await lockIntegration(tx, actor.orgId, projectId)
    if (row === undefined) throw notFound('Tracker')
    await closeLane(tx, row.id, 'tracker_disconnected')
    await deleteIntegration(tx, row.id)
    await recordFacts(tx, factContext(app, actor), [
      {
        kind: 'integration.tracker.disconnected',
        orgId: actor.orgId,
        projectId,
        targetId: row.id,
        label: row.team_name,
        data: { name: row.team_name },
      },
    ])
  })
}

export const trackerTokenHash = (token: string): Buffer => createHash('sha256').update(token).digest()

/** The given configuration, completed by the stored one where that belongs to the same address. */
async function configOf(app: App, actor: OrgActor, projectId: string, input: TrackerInput): Promise<TrackerConfig> {
  if (input.provider === 'codehost') return hostConfig(app, projectId, input)
  const row = await selectIntegration(app.db, actor.orgId, projectId)
  const config = row?.provider === input.provider ? await readConfig(app, row).catch(() => undefined) : undefined
  const stored = config?.provider === 'codehost' ? undefined : config
  const given = input.base_url ?? stored?.base_url ?? (input.provider === 'tracker_a' ? LINEAR_URL : undefined)
  if (given === undefined) throw invalid('base_url is missing: the address of your Jira.')
  const url = app.egress.checkUrl(given)
  if (url.search !== '' || url.hash !== '') throw invalid('base_url must have no ? and no #.')
  const base = given.replace(/\/+$/, '')
  // A secret belongs to its address: another address does not get it.
  const old = stored?.base_url === base ? stored : undefined
  if (input.provider === 'tracker_a') {
    const linear = old?.provider === 'tracker_a' ? old : undefined
    const key = input.api_key ?? linear?.api_key
    if (key === undefined) throw invalid('api_key is missing: a personal API key of Linear.')
    return { provider: 'tracker_a', base_url: base, api_key: key, webhook_secret: linear?.webhook_secret ?? '' }
  }
  const before = old?.provider === 'tracker_b' ? old : undefined
  const token = input.api_token ?? before?.api_token
  if (token === undefined) throw invalid('api_token is missing: an API token of Jira.')
  const email = input.email ?? (input.api_token === undefined ? (before?.email ?? null) : null)
  return { provider: 'tracker_b', base_url: base, email, api_token: token, webhook_secret: '' }
}

async function hostConfig(app: App, projectId: string, input: TrackerInput): Promise<TrackerConfig> {
  const given = (['base_url', 'api_key', 'email', 'api_token'] as const).find((name) => input[name] !== undefined)
  if (given !== undefined) throw invalid(`${given} must be left out: codehost uses the connection to the code host.`)
  const host = await selectCodeHost(app.db, projectId)
  if (host === undefined)
    throw invalid('The project is not connected to a code host. Connect its repository first, with an access token.')
  if (host.token_sealed === null)
    throw invalid('The code host is connected without an access token. Enter one that may read and write issues.')
  return { provider: 'codehost', project_id: projectId, repository_url: host.repository_url }
}

/** The word of a provider for a team. */
const TEAMS = {
  tracker_a: ['team', 'teams'],
  tracker_b: ['project', 'projects'],
  codehost: ['repository', 'repositories'],
} as const

async function chosen(tracker: Tracker, config: TrackerConfig, input: Connecting) {
  const teams = await tried(config, () => tracker.listTeams())
  const team =
    input.team_id === undefined ? teams.length === 1 && teams[0] : teams.find(({ id }) => id === input.team_id)
  const [one, all] = TEAMS[config.provider]
  if (team === undefined || team === false) {
    const names = teams.slice(0, 10).map(({ id }) => id)
    throw invalid(
      teams.length === 0
        ? `The credentials see no ${one} in ${tracker.vendor}.`
        : `team_id must be one of the ${all} that the credentials see, such as ${names.join(', ')}.`,
    )
  }
  const types = await tried(config, () => tracker.listTypes(team.id))
  const type =
    input.type_id === undefined
      ? (types.find(({ name }) => name === 'Bug') ?? types[0] ?? null)
      : types.find(({ id }) => id === input.type_id)
  if (type === undefined)
    throw invalid(`type_id must be one of ${types.map(({ id, name }) => `${id} (${name})`).join(', ') || 'none'}.`)
  if (type === null && config.provider === 'tracker_b')
    throw invalid('The project in Jira has no type of issue that can be created.')
  return { team, type }
}

async function tried<T>(config: TrackerConfig, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof TrackerError ? mendable(config, error) : error
  }
}

/** Names the field that is wrong. */
function mendable(config: TrackerConfig, { kind, message, retryAfterMs }: TrackerError): AppError {
  const [secret, address] = credentialsOf(config)
  switch (kind) {
    case 'unauthorised':
      return invalid(`${secret} is wrong. ${message}`)
    case 'forbidden':
      return invalid(`${secret} is of a user who lacks a right. ${message}`)
    case 'missing':
      return invalid(`${address} does not lead to the tracker. ${message}`)
    case 'unreachable':
      return invalid(`${address} cannot be reached. ${message}`)
    case 'refused':
      return invalid(`The tracker refused. ${message}`)
    case 'limited':
    case 'uncertain':
      return unavailable(`The tracker does not answer now. Try again. ${message}`, (retryAfterMs ?? 30_000) / 1_000)
  }
}

/** How the fields of credentials and address are called. */
function credentialsOf(config: TrackerConfig): readonly [secret: string, address: string] {
  switch (config.provider) {
    case 'tracker_a':
      return ['api_key', 'base_url']
    case 'tracker_b':
      return [config.email === null ? 'api_token' : 'email or api_token', 'base_url']
    case 'codehost':
      return ['The access token of the code host', 'The repository']
  }
}
