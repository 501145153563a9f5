import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { recentAlertsQuery } from '../../api/attention-queries.ts'
import { openAlertsQuery, type Alert } from '../../api/alert-queries.ts'
import { usePolling } from '../../api/live.ts'
import { paths } from '../../address/paths.ts'
import { useAcknowledge, useAcknowledgeAll } from '../../subjects/alerts/acknowledge.ts'
import { alertTexts } from '../../subjects/alerts/alert-texts.ts'
import { firingFirst, formatMeasured } from '../../subjects/alerts/look.ts'
import { useCan } from '../../app/can.ts'
import { useKeys } from '../../app/keys.ts'
import { rowKeys } from '../../app/row-keys.ts'
import { MoreFoot } from '../../frames/more-button.tsx'
import { PageQuery } from '../../frames/page-query.tsx'
import { useScope } from '../../app/use-scope.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import choiceStyles from '../../ui/choice.module.css'
import { classNames } from '../../ui/class-names.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import fitStyles from '../../ui/fit.module.css'
import { formatClock, formatExact, formatSince } from '../../ui/format.ts'
import { Spacer } from '../../ui/stack.tsx'
import { Severity } from '../../ui/status.tsx'
import { Minor } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'
import { alertsTexts as texts } from './texts.ts'
import styles from './lists.module.css'
import typeStyles from '../../ui/type.module.css'

/** Alerts that are firing, then those that are acknowledged. With a cursor, keys move in it and acknowledge. */
export function FiringList({ hasCursor = false }: { hasCursor?: boolean }) {
  const { projectId } = useScope()
  const refetchInterval = usePolling(15_000)
  const open = useInfiniteQuery({ ...openAlertsQuery(projectId), refetchInterval })
  const may = useCan('alerts.write')
  const all = useAcknowledgeAll()
  const alerts = firingFirst(open.data?.pages.flatMap(({ items }) => items) ?? [])
  const isFiring = alerts.some(({ state }) => state === 'firing')
  return (
    <Card
      className={fitStyles.clips}
      title={texts.firingNow}
      header={
        <>
          <Spacer />
          {isFiring ? (
            <Button size="sm" look="ghost" why={may.why} busy={all.isPending} onClick={() => all.mutate(projectId)}>
              {alertTexts.acknowledgeAll}
            </Button>
          ) : null}
        </>
      }
    >
      <PageQuery query={open} what={texts.firingWhat} rows={3}>
        {() => (alerts.length === 0 ? <NothingFiring /> : <Rows alerts={alerts} hasCursor={hasCursor} />)}
      </PageQuery>
      <MoreFoot list={open}>{texts.showMore}</MoreFoot>
    </Card>
  )
}

function Rows({ alerts, hasCursor }: { alerts: readonly Alert[]; hasCursor: boolean }) {
  const navigate = useNavigate()
  const may = useCan('alerts.write')
  const acknowledge = useAcknowledge()
  const [cursorId, setCursorId] = useState<string | null>(null)
  const firing = alerts.filter(({ state }) => state === 'firing')
  const current = alerts.find(({ id }) => id === cursorId) ?? firing[0] ?? alerts[0]
  const step = (by: number) => {
    const at = alerts.findIndex(({ id }) => id === current?.id)
    const next = cursorId === null && by > 0 ? current : alerts[at + by]
    if (next === undefined) return
    setCursorId(next.id)
    document.getElementById(rowId(next.id))?.scrollIntoView({ block: 'nearest' })
  }
  const acknowledgeCurrent = () => {
    if (current?.state !== 'firing') return
    // The list moves the row below the firing ones; the cursor stays with those.
    setCursorId(firing.find(({ id }) => id !== current.id)?.id ?? null)
    acknowledge.mutate(current)
  }
  useKeys(
    hasCursor
      ? [
          ...rowKeys(texts, step),
          {
            keys: 'enter',
            label: texts.openDetail,
            group: 'Page',
            run: () => {
              if (current !== undefined) void navigate(paths.alertHistory({ alert: current.id }))
            },
            sheetOnly: true,
          },
          ...(may.allowed
            ? [{ keys: 'e', label: texts.acknowledgeKey, group: 'Page' as const, run: acknowledgeCurrent }]
            : []),
        ]
      : [],
  )
  return (
    <ul>
      {alerts.map((alert) => (
        <FiringRow
          key={alert.id}
          alert={alert}
          isCurrent={hasCursor && alert.id === current?.id}
          why={may.why}
          onAcknowledge={() => acknowledge.mutate(alert)}
        />
      ))}
    </ul>
  )
}

const rowId = (alertId: string): string => `alert-${alertId}`

type FiringRowProps = { alert: Alert; isCurrent: boolean; why: string | undefined; onAcknowledge: () => void }

function FiringRow({ alert, isCurrent, why, onAcknowledge }: FiringRowProps) {
  const value = formatMeasured(alert.value, alert.unit)
  return (
    <li
      id={rowId(alert.id)}
      className={classNames(styles.fired, choiceStyles.row, choiceStyles.current)}
      data-firing={alert.state === 'firing' ? '' : undefined}
      data-current={isCurrent ? '' : undefined}
    >
      <Severity severity={alert.severity} word={false} />
      <div className={classNames(styles.body, fitStyles.shrinks)}>
        <Link
          className={classNames(styles.title, choiceStyles.underlines)}
          {...paths.alertHistory({ alert: alert.id })}
        >
          {alert.title}
        </Link>
        <Minor as="p" className={fitStyles.ellipsis}>
          {alertTexts.triggers[alert.trigger_type]}, <Time at={alert.fired_at} />, {alert.project.name}
        </Minor>
      </div>
      <span className={styles.value}>{value}</span>
      {alert.state === 'firing' ? (
        <Button size="sm" why={why} keys={isCurrent && why === undefined ? 'e' : undefined} onClick={onAcknowledge}>
          {alertTexts.acknowledge}
          <span className={typeStyles.hidden}>{alertTexts.which(alert.title)}</span>
        </Button>
      ) : (
        <Acknowledged alert={alert} />
      )}
    </li>
  )
}

function Acknowledged({ alert: { acknowledged_by: person, acknowledged_at: at } }: { alert: Alert }) {
  if (at === null) return null
  return (
    <Minor
      className={styles.acknowledged}
      title={person === null ? formatExact(at) : alertTexts.acknowledgedBy(person.name, formatExact(at))}
    >
      {person === null ? null : <Avatar user={person} small />}
      {alertTexts.acknowledgedAt(formatClock(at))}
    </Minor>
  )
}

/** Nothing is wrong: when that was different. */
function NothingFiring() {
  const recent = useQuery(recentAlertsQuery)
  const last = recent.data?.items[0]
  return (
    <EmptyState kind="good" title={texts.nothing}>
      {recent.data === undefined
        ? undefined
        : last === undefined
          ? texts.nothingNever
          : texts.nothingLast(last.title, formatSince(last.fired_at))}
    </EmptyState>
  )
}
