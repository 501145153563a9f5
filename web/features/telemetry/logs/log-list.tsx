import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import {
  linesAroundQuery,
  logsQuery,
  readNewLines,
  type LogFilters,
  type LogLine,
  type LogVolume,
} from '../../../api/log-queries.ts'
import { useKeys } from '../../../app/keys.ts'
import { MoreFoot } from '../../../frames/more-button.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatClock } from '../../../ui/format.ts'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { NoLines } from './no-lines.tsx'
import { LogRows } from './log-rows.tsx'
import { BATCH_RATE, formatLineTime } from './model.ts'
import { logsTexts as texts } from './texts.ts'
import { useTail } from './use-tail.ts'
import styles from './log-list.module.css'

const REFRESH_MS = 15_000

type ListProps = {
  projectId: string
  filters: LogFilters
  volume: LogVolume | undefined
  onPair: (side: 'with' | 'without', name: string, value: string) => void
  onAround: (line: LogLine) => void
}

/** Lines of the filters, page by page. New ones wait behind a pill, so that nothing moves while one reads. */
export function StillList({ projectId, filters, volume, onPair, onAround }: ListProps) {
  const list = useInfiniteQuery(logsQuery(projectId, filters))
  const lines = list.data?.pages.flatMap(({ items }) => items) ?? []
  const waiting = useWaiting(
    projectId,
    filters,
    list.data === undefined ? null : (lines[0]?.occurred_at ?? new Date(list.dataUpdatedAt).toISOString()),
  )
  const refresh = () => void list.refetch()
  useKeys(waiting === null ? [] : [{ keys: '.', label: texts.showNew, group: 'Page', run: refresh }])
  return (
    <Card className={fitStyles.clips} aria-label={texts.lines}>
      {waiting === null ? null : (
        <Pill keys="." onClick={refresh}>
          {texts.waiting(waiting.count, formatClock(waiting.since))}
        </Pill>
      )}
      <PageQuery query={list} what={texts.what} rows={12}>
        {() =>
          lines.length === 0 ? (
            <NoLines projectId={projectId} volume={volume} />
          ) : (
            <LogRows lines={lines} onPair={onPair} onAround={onAround} />
          )
        }
      </PageQuery>
      <MoreFoot list={list}>{texts.showMore}</MoreFoot>
    </Card>
  )
}

const Pill = ({ onClick, keys, children }: { onClick: () => void; keys?: string; children: string }) => (
  <div className={styles.pill} role="status">
    <Button size="sm" look="ghost" icon="up" keys={keys} className={typeStyles.accent} onClick={onClick}>
      {children}
    </Button>
  </div>
)

/**
 * How many lines came after the list was read; null for none, and in a time that is over.
 * @param since the time of the newest line, or when the empty list was read; null before that
 */
function useWaiting(projectId: string, filters: LogFilters, since: string | null) {
  const from = since === null ? null : new Date(Date.parse(since) + 1).toISOString()
  const query = useQuery({
    queryKey: ['logs', 'waiting', projectId, filters, from],
    queryFn: ({ signal }) => readNewLines(projectId, filters, from ?? '', signal),
    enabled: from !== null && filters.to === undefined,
    refetchInterval: REFRESH_MS,
    meta: { quiet: true },
  })
  const count = query.data?.total ?? 0
  return since === null || count === 0 ? null : { count, since }
}

/** Lines as they arrive: at the top it follows, scrolled away it holds. */
export function LiveList({ projectId, filters, onPair, onAround }: ListProps) {
  const top = useRef<HTMLDivElement>(null)
  const isAtTop = useIsVisible(top)
  const tail = useTail(projectId, filters, !isAtTop)
  const goUp = () => {
    tail.showAll()
    top.current?.scrollIntoView({ block: 'center' })
  }
  useKeys(tail.waiting.length > 0 && !isAtTop ? [{ keys: '.', label: texts.showNew, group: 'Page', run: goUp }] : [])
  return (
    <Card className={styles.live} aria-label={texts.lines}>
      <div ref={top} className={styles.state}>
        <Minor>{isAtTop ? texts.following : texts.held}</Minor>
        {tail.perSecond > BATCH_RATE ? <Minor>{texts.rate(tail.perSecond)}</Minor> : null}
        {tail.left > 0 ? <Minor>{texts.leftOut(tail.left)}</Minor> : null}
        {tail.isFailing ? (
          <Minor bad role="alert">
            {texts.tailFailed}
          </Minor>
        ) : null}
      </div>
      {isAtTop || tail.waiting.length === 0 ? null : (
        <Pill keys="." onClick={goUp}>
          {texts.waitingLive(tail.waiting.length)}
        </Pill>
      )}
      <LogRows lines={tail.lines} onPair={onPair} onAround={onAround} />
    </Card>
  )
}

function useIsVisible(element: { readonly current: Element | null }): boolean {
  const [isVisible, setVisible] = useState(true)
  useEffect(() => {
    if (element.current === null) return
    const observer = new IntersectionObserver(([entry]) => setVisible(entry?.isIntersecting ?? true))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return isVisible
}

/** Lines around a moment, of every level. */
export function AroundList({
  projectId,
  at,
  onBack,
  onPair,
  onAround,
}: Omit<ListProps, 'filters' | 'volume'> & { at: string; onBack: () => void }): ReactNode {
  const around = useQuery(linesAroundQuery(projectId, at))
  const marked = around.data?.items.findLast((line) => Date.parse(line.occurred_at) >= Date.parse(at))
  useEffect(() => {
    if (marked !== undefined) document.querySelector('[data-marked]')?.scrollIntoView({ block: 'center' })
  }, [marked])
  return (
    <Card
      className={fitStyles.clips}
      title={texts.aroundTitle(formatLineTime(at))}
      header={
        <>
          <Minor>{texts.aroundText}</Minor>
          <Button size="sm" look="ghost" icon="left" className={fitStyles.atEnd} onClick={onBack}>
            {texts.backToList}
          </Button>
        </>
      }
    >
      <PageQuery query={around} what={texts.what} rows={12}>
        {({ items }) => <LogRows lines={items} marked={marked?.id} onPair={onPair} onAround={onAround} />}
      </PageQuery>
    </Card>
  )
}
