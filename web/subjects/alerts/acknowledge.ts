import { serviceNow } from '../../ui/clock.ts'
import { useQuery, type QueryClient } from '@tanstack/react-query'
import { recentAlertsQuery } from '../../api/attention-queries.ts'
import type { Alert } from '../../api/alert-queries.ts'
import { call } from '../../api/call.ts'
import { useChange } from '../../api/change.ts'
import { meQuery } from '../../api/queries.ts'
import { alertTexts } from './alert-texts.ts'

/** Acknowledgement, shown at once wherever an alert is listed. */

type Person = { id: string; name: string }
type Patch = (alert: Alert) => Alert

const acknowledgedBy =
  (person: Person, at: string): Patch =>
  (alert) =>
    alert.state === 'firing' ? { ...alert, state: 'acknowledged', acknowledged_by: person, acknowledged_at: at } : alert

const isAlert = (value: unknown): value is Alert =>
  typeof value === 'object' && value !== null && 'rule_id' in value && 'fired_at' in value

/** Changes alerts wherever the cache holds them: lists, pages of lists, and single ones. */
function patched(data: unknown, isMeant: (alert: Alert) => boolean, patch: Patch): unknown {
  if (isAlert(data)) return isMeant(data) ? patch(data) : data
  if (typeof data !== 'object' || data === null) return data
  if ('pages' in data && Array.isArray(data.pages))
    return { ...data, pages: data.pages.map((page: unknown) => patched(page, isMeant, patch)) }
  if ('items' in data && Array.isArray(data.items))
    return { ...data, items: data.items.map((item: unknown) => patched(item, isMeant, patch)) }
  return data
}

function patchAlerts(client: QueryClient, isMeant: (alert: Alert) => boolean, patch: Patch): void {
  for (const part of ['fired', 'recent', 'alert'])
    client.setQueriesData({ queryKey: ['alerts', part] }, (data: unknown) => patched(data, isMeant, patch))
}

const countDown = (client: QueryClient, by: (count: number) => number): void =>
  void client.setQueryData(recentAlertsQuery.queryKey, (recent) =>
    recent === undefined ? recent : { ...recent, unread_count: Math.max(0, by(recent.unread_count)) },
  )

const acknowledge = (alertId: string) => call('POST /api/alerts/:alertId/ack', { params: { alertId } })

function usePerson(): Person {
  const me = useQuery(meQuery).data?.user
  return me === undefined ? { id: '', name: alertTexts.you } : { id: me.id, name: me.name }
}

/** Acknowledges one alert: who and when are shown immediately, and its page stops. */
export function useAcknowledge() {
  const person = usePerson()
  return useChange({
    send: (alert: Alert) => acknowledge(alert.id),
    same: (alert) => alert.id,
    touches: () => [['alerts']],
    guess: (client, { id }) => {
      patchAlerts(client, (alert) => alert.id === id, acknowledgedBy(person, new Date(serviceNow()).toISOString()))
      countDown(client, (count) => count - 1)
    },
    failed: alertTexts.notAcknowledged,
  })
}

/** Every firing alert of a project, or of all. */
async function firingIds(projectId: string | null): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page: { items: readonly { id: string }[]; next_cursor: string | null } = await call('GET /api/alerts/fired', {
      query: {
        state: 'firing',
        limit: '100',
        ...(projectId === null ? {} : { projectId }),
        ...(cursor === null ? {} : { cursor }),
      },
    })
    ids.push(...page.items.map(({ id }) => id))
    cursor = page.next_cursor
  } while (cursor !== null)
  return ids
}

const AT_ONCE = 4

/** Acknowledges all firing alerts of a project, or of all. */
export function useAcknowledgeAll() {
  const person = usePerson()
  return useChange({
    send: async (projectId: string | null) => {
      const ids = await firingIds(projectId)
      for (let from = 0; from < ids.length; from += AT_ONCE)
        await Promise.all(ids.slice(from, from + AT_ONCE).map(acknowledge))
      return ids.length
    },
    same: (projectId) => projectId ?? 'all',
    touches: () => [['alerts']],
    guess: (client, projectId) => {
      const isMeant = (alert: Alert) => projectId === null || alert.project_id === projectId
      patchAlerts(client, isMeant, acknowledgedBy(person, new Date(serviceNow()).toISOString()))
      if (projectId === null) countDown(client, () => 0)
    },
    said: (count) => alertTexts.allAcknowledged(count),
    failed: alertTexts.notAcknowledged,
  })
}
