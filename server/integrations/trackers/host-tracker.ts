import type { App } from '../../platform/context/app.ts'
import { type CodeHostRow, selectCodeHost } from '../code-host/code-hosts.queries.ts'
import { endOfLimit } from '../code-host/host-client.ts'
import { openToken } from '../code-host/secrets.ts'
import { findVendor } from '../code-host/vendors.ts'
import { callTracker, errorOfStatus, type TrackerAnswer } from './call-tracker.ts'
import type { TrackerConfig } from './config.ts'
import type { AskHost, HostIssues } from './host-issues.ts'
import { githubIssues } from './github-issues.ts'
import { gitlabIssues } from './gitlab-issues.ts'
import { escapeTicketText, writeMarkdown, withoutReferences } from './ticket-markdown.ts'
import { writeReference, type RemoteTicket, type Tracker } from './tracker.ts'
import { TrackerError } from './tracker-error.ts'

type Config = Extract<TrackerConfig, { provider: 'codehost' }>

const MAX_TITLE = 255

/**
 * Issues of the repository to which the project is connected, by the token of the code host. Other repositories are not
 * called: issues are known by their numbers.
 */
export function hostTracker(app: App, config: Config, group: string): Tracker {
  const issuesOf = async (): Promise<HostIssues> => {
    const { host, token } = await openHost(app, config)
    const ask = askOf(app, host, token, group)
    return host.provider === 'github' ? githubIssues(ask) : gitlabIssues(ask)
  }
  async function read(issues: HostIssues, id: string): Promise<RemoteTicket | null> {
    try {
      return await issues.read(id)
    } catch (error) {
      if (error instanceof TrackerError && error.kind === 'missing') return null
      throw error
    }
  }
  const { host, pathname } = new URL(config.repository_url)
  const repository = pathname.slice(1)
  return {
    vendor: host,
    isExact: false,
    async readAccount() {
      const issues = await issuesOf()
      if (!(await issues.haveIssues()))
        throw new TrackerError('refused', `Issues are switched off in the settings of ${repository}.`)
      return { workspace: config.repository_url, account: `${repository} at ${host}` }
    },
    listTeams: () => Promise.resolve([{ id: repository, name: repository }]),
    listTypes: () => Promise.resolve([]),
    async create({ marker, title, text }) {
      const escape = (value: string) => escapeTicketText(withoutReferences(value))
      const body = writeMarkdown(text, escape)
      return (await issuesOf()).create(
        withoutReferences(title).replaceAll(/\s+/g, ' ').slice(0, MAX_TITLE).toWellFormed(),
        `${body}\n\nFaultline reference ${writeReference(marker)}`,
      )
    },
    find: async (marker) => (await issuesOf()).find(writeReference(marker)),
    read: async (id) => read(await issuesOf(), id),
    async reopen(id, comment, commentId) {
      const issues = await issuesOf()
      const ticket = await read(issues, id)
      if (ticket === null) return null
      const opened = ticket.isClosed ? await issues.open(id) : ticket
      const reference = writeReference(commentId)
      if (!(await issues.hasComment(id, reference)))
        await issues.comment(id, `${withoutReferences(comment)}\n\nFaultline reference ${reference}`)
      return opened
    },
    // The code host has one webhook, which `follow-host-issues.ts` hears.
    ticketOf: () => null,
  }
}

async function openHost(app: App, config: Config): Promise<{ readonly host: CodeHostRow; readonly token: string }> {
  const host = await selectCodeHost(app.db, config.project_id)
  if (host === undefined || host.repository_url !== config.repository_url)
    throw new TrackerError('unauthorised', `The project is no longer connected to ${config.repository_url}.`)
  const token = host.broken_at === null ? await openToken(app, host) : null
  if (token === null)
    throw new TrackerError('unauthorised', 'The code host has no working access token. An admin must enter one.')
  return { host, token }
}

function askOf(app: App, host: CodeHostRow, token: string, group: string): AskHost {
  const vendor = findVendor(host.provider)
  return async (schema, method, path, json) => {
    const answer = await callTracker(app, {
      vendor: vendor.label,
      url: vendor.apiUrl(host.repository_url, path),
      method,
      headers: { ...vendor.tokenHeaders(token) },
      json,
      group,
    })
    const failure = limitOf(app, vendor.label, answer) ?? errorOfStatus(vendor.label, answer, saidBy(answer))
    if (failure !== null) throw failure
    const parsed = schema.safeParse(answer.json)
    if (!parsed.success)
      throw new TrackerError('uncertain', `The answer of ${vendor.label} is not understood.`, answer.status)
    return parsed.data
  }
}

/** GitHub answers 403, too, when one of its limits is reached. */
function limitOf(app: App, label: string, answer: TrackerAnswer): TrackerError | null {
  const { status, headers } = answer
  const isLimited =
    status === 429 || (status === 403 && (headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after')))
  if (!isLimited) return null
  const now = app.clock.now()
  const waitMs = endOfLimit(now, (name) => headers.get(name)).getTime() - now.getTime()
  return new TrackerError('limited', `${label} answered ${status}: ${saidBy(answer)}`, status, waitMs)
}

function saidBy({ json }: TrackerAnswer): string {
  if (typeof json !== 'object' || json === null) return ''
  const said = 'message' in json ? json.message : 'error' in json ? json.error : ''
  return typeof said === 'string' ? said : JSON.stringify(said)
}
