import type { App } from '#server/platform/context/app.ts'
import type { Issue } from '#server/issues/rules/issue.api.ts'
import type { IssueDetail } from '#server/issues/triage/issues.api.ts'
import type { Client } from './client.ts'
import { aMemberClient, type MemberClient } from './member-client.ts'
import { aFounder, aProject, type TestProject } from './founder.ts'
import { anEvent, dsnParts, sendEvent, type EventFields } from './sdk.ts'
import { waitFor } from './wait.ts'

export type Founder = Awaited<ReturnType<typeof aFounder>>
type InProject = { readonly project: Pick<TestProject, 'id' | 'dsn'> }

/** Things that tests need, created as the product creates them: through the API, intake and digestion. */
export type Product = {
  /** The owner of a new organisation, logged in. */
  founder(): Promise<Founder>
  /** Another member of the same organisation, logged in. */
  member(of: Client, fields: Parameters<typeof aMemberClient>[3]): Promise<MemberClient>
  project(owner: Client, fields?: Record<string, unknown>): Promise<TestProject>
  /** Sends an event and waits until it is in its issue. With a fake clock it happens now. Returns its id. */
  event(fields: InProject & EventFields): Promise<string>
  /** Sends several events, digested together. Returns their ids in the same order. */
  events(project: InProject['project'], events: readonly EventFields[]): Promise<string[]>
  /** An issue with one event, or with `times` events, as the API shows it to `by`. */
  issue(fields: InProject & { readonly by: Client; readonly times?: number } & EventFields): Promise<IssueDetail>
  /** A page of the list; `query` is the query string: `sort=-event_count`. */
  issues(by: Client, query?: string): Promise<Issue[]>
  /** Sends counts of sessions of a release that started at a time. */
  sessions(fields: InProject & SessionFields): Promise<void>
}

export type SessionFields = {
  readonly release: string
  readonly started: Date
  readonly exited?: number
  readonly crashed?: number
  /** The user of the sessions. */
  readonly did?: string
}

/**
 * @param digest runs digestion; undefined where it runs by itself
 */
export function productOf(app: App, url: string, digest: (() => Promise<unknown>) | undefined): Product {
  const isIn = async (ids: readonly string[]): Promise<boolean> => {
    const { rows } = await app.db.query<{ n: number }>(
      'select count(*)::int as n from events where event_id = any($1::uuid[])',
      [ids],
    )
    return rows[0]?.n === ids.length
  }
  const product: Product = {
    founder: () => aFounder(url),
    member: (of, fields) => aMemberClient(app, url, of, fields),
    project: (owner, fields) => aProject(owner, fields),
    async event({ project, ...fields }) {
      const [id = ''] = await product.events(project, [fields])
      return id
    },
    async events(project, events) {
      const ids: string[] = []
      for (const fields of events) {
        const event = anEvent({ timestamp: app.clock.now().getTime() / 1000, ...fields })
        const { status, id } = await sendEvent(url, project.dsn, event)
        if (status !== 200 || id === null) throw new Error(`the intake answered ${status} to an event`)
        ids.push(id)
      }
      if (digest === undefined) await waitFor('the events to be digested', () => isIn(ids))
      else await digest()
      return ids
    },
    async issue({ project, by, times = 1, ...fields }) {
      const ids = await product.events(
        project,
        Array.from({ length: times }, () => fields),
      )
      const { rows } = await app.db.query<{ issue_id: string }>(
        'select issue_id from events where project_id = $1 and event_id = $2',
        [project.id, ids[0]],
      )
      if (rows[0] === undefined) throw new Error('the event is in no issue: it was filtered or dropped')
      const answer = await by.get(`/api/issues/${rows[0].issue_id}`)
      if (answer.status !== 200) throw new Error(`the issue: ${answer.status} ${answer.text}`)
      return answer.as<IssueDetail>()
    },
    async issues(by, query = '') {
      const answer = await by.get(`/api/issues${query === '' ? '' : `?${query}`}`)
      if (answer.status !== 200) throw new Error(`the list of issues: ${answer.status} ${answer.text}`)
      return answer.as<{ items: Issue[] }>().items
    },
    async sessions({ project, release, started, exited = 0, crashed = 0, did }) {
      const { key, projectNumber } = dsnParts(project.dsn)
      const item = { aggregates: [{ started: started.toISOString(), exited, crashed, did }], attrs: { release } }
      const answer = await fetch(`${url}/api/${projectNumber}/envelope/?sentry_key=${key}&sentry_version=7`, {
        method: 'POST',
        body: `{}\n{"type":"sessions"}\n${JSON.stringify(item)}\n`,
      })
      if (answer.status !== 200) throw new Error(`the intake answered ${answer.status} to sessions`)
      await answer.text()
      await digest?.()
    },
  }
  return product
}
