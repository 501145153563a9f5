import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { usePolling } from '../../../api/live.ts'
import {
  deliveriesQuery,
  deliveryCountQuery,
  type DeliveryPage,
  type WebhookDelivery,
  type WebhookEndpoint,
} from '../../../api/webhook-queries.ts'
import { paths } from '../../../address/paths.ts'
import type { WebhooksSearch } from '../../../address/search.ts'
import { useKeys } from '../../../app/keys.ts'
import { rowKeys, stepFrom } from '../../../app/row-keys.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { formatCount, formatDay, formatDuration, DAY_MS } from '../../../ui/format.ts'
import { Segmented } from '../../../ui/segmented.tsx'
import { Spacer, Toolbar } from '../../../ui/stack.tsx'
import { ColumnHead, NumberCell, Table } from '../../../ui/table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { DateFilter, TypeFilter } from './delivery-filters.tsx'
import { DeliveryMarks } from './delivery-marks.tsx'
import { isCounting } from '../../../subjects/alerts/delivery-look.ts'
import { DeliveryState } from '../../../subjects/alerts/delivery-state.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { useTestEvent } from './endpoint-list.tsx'
import { attemptAnswer, endpointName, webhookDeliveryLook, shortId } from './model.ts'
import { ReplayFailedDialog } from './replay-failed-dialog.tsx'
import { useReplay, useReplayMany } from './replays.ts'
import { webhooksTexts } from './texts.ts'
import styles from './deliveries.module.css'
import typeStyles from '../../../ui/type.module.css'

const route = getRouteApi('/signed-in/shell/org/webhooks')
const texts = webhooksTexts.deliveries
const POLL_MS = 15_000
const KEPT_DAYS = 365

type DeliveriesProps = { endpoint: WebhookEndpoint; search: WebhooksSearch }

/** The delivery log of an endpoint: filters, replays, and a page of deliveries, newest first. */
export function Deliveries({ endpoint, search }: DeliveriesProps) {
  const navigate = route.useNavigate()
  const { state, type, from, to, after } = search
  const view = { state, type, from, to, after }
  const refetchInterval = usePolling(POLL_MS)
  const list = useQuery({ ...deliveriesQuery(endpoint.id, view), refetchInterval, meta: { quiet: true } })
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [asking, setAsking] = useState(false)
  const rows = list.data?.items ?? []
  const host = endpointName(endpoint.url)
  const show = (change: Partial<WebhooksSearch>) => {
    setSelected(new Set())
    void navigate({
      search: (before) => ({ ...before, after: undefined, ...change, endpoint: endpoint.id }),
      resetScroll: false,
    })
  }
  const open = (id: string) =>
    void navigate({
      search: (before) => ({ ...before, endpoint: endpoint.id, delivery: id }),
      replace: search.delivery !== undefined,
      resetScroll: false,
    })
  const step = (by: number) => {
    const next = stepFrom(rows, ({ id }) => id === search.delivery, by)
    if (next !== undefined) open(next.id)
  }
  useKeys(rowKeys(texts, step))

  const chosen = rows.filter(({ id }) => selected.has(id))
  const isFiltered = state !== undefined || type !== undefined || from !== undefined || to !== undefined
  return (
    <Card
      title={texts.title}
      header={
        <>
          <span className={`${typeStyles.mono} ${typeStyles.quiet} ${styles.host}`}>{host}</span>
          <Spacer />
          <StateFilter endpointId={endpoint.id} search={search} onChange={(next) => show({ state: next })} />
          {chosen.length > 0 ? (
            <ReplayChosen chosen={chosen} onDone={() => setSelected(new Set())} />
          ) : (
            <ReplayFailed endpointId={endpoint.id} search={search} onAsk={() => setAsking(true)} />
          )}
        </>
      }
    >
      <Toolbar className={styles.filters}>
        <TypeFilter chosen={type} onChange={(next) => show({ type: next })} />
        <DateFilter from={from} to={to} onChange={show} />
      </Toolbar>
      <PageQuery query={list} what={texts.what} rows={6}>
        {(page) =>
          rows.length > 0 ? (
            <>
              <DeliveryTable
                rows={rows}
                search={search}
                isPaused={endpoint.state !== 'active'}
                selected={selected}
                onSelect={setSelected}
              />
              <PageFoot page={page} after={after} onMove={(next) => show({ after: next })} />
            </>
          ) : isFiltered ? (
            <EmptyState
              kind="filtered"
              title={texts.filteredTitle}
              actions={
                <Button onClick={() => show({ state: undefined, type: undefined, from: undefined, to: undefined })}>
                  {texts.clear}
                </Button>
              }
            >
              {texts.filteredText(filterWords(search).join(', '))}
            </EmptyState>
          ) : (
            <NoDeliveries endpointId={endpoint.id} />
          )
        }
      </PageQuery>
      {asking ? (
        <ReplayFailedDialog
          endpoint={endpoint}
          view={{ ...view, state: 'failed', after: undefined }}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </Card>
  )
}

function ReplayChosen({ chosen, onDone }: { chosen: readonly WebhookDelivery[]; onDone: () => void }) {
  const replay = useReplayMany()
  const ids = chosen.map(({ id }) => id)
  return (
    <Button size="sm" icon="rotate" busy={replay.isPending} onClick={() => replay.mutate(ids, { onSuccess: onDone })}>
      {texts.replaySelected(chosen.length)}
    </Button>
  )
}

type ReplayFailedProps = { endpointId: string; search: WebhooksSearch; onAsk: () => void }

function ReplayFailed({ endpointId, search, onAsk }: ReplayFailedProps) {
  const failed = useFailedCount(endpointId, 'failed', search)
  const why = failed === undefined || failed.total === 0 ? texts.noneFailed : undefined
  return (
    <Button size="sm" icon="rotate" why={why} onClick={onAsk}>
      {texts.replayFailed}
    </Button>
  )
}

type PageFootProps = {
  page: DeliveryPage
  after: string | undefined
  /** Moves to the page behind a cursor, or to the newest. */
  onMove: (after: string | undefined) => void
}

function PageFoot({ page, after, onMove }: PageFootProps) {
  const { items } = page
  return (
    <CardFooter
      note={texts.range(
        items.length,
        page.total_capped === true ? texts.over(formatCount(page.total)) : formatCount(page.total),
        formatDay(Date.parse(items.at(-1)?.created_at ?? '') + KEPT_DAYS * DAY_MS),
      )}
    >
      {after === undefined && page.next_cursor === null ? null : (
        <>
          <IconButton
            size="sm"
            icon="left"
            label={texts.newest}
            why={after === undefined ? texts.atNewest : undefined}
            onClick={() => onMove(undefined)}
          />
          <IconButton
            size="sm"
            icon="right"
            label={texts.older}
            why={page.next_cursor === null ? texts.atOldest : undefined}
            onClick={() => onMove(page.next_cursor ?? undefined)}
          />
        </>
      )}
    </CardFooter>
  )
}

type DeliveryTableProps = {
  rows: readonly WebhookDelivery[]
  search: WebhooksSearch
  isPaused: boolean
  selected: ReadonlySet<string>
  onSelect: (ids: ReadonlySet<string>) => void
}

function DeliveryTable({ rows, search, isPaused, selected, onSelect }: DeliveryTableProps) {
  return (
    <Table className={classNames(styles.table, choiceStyles.selectableRows)}>
      <thead>
        <tr>
          <ColumnHead className={styles.check}>
            <input
              type="checkbox"
              aria-label={texts.selectAll}
              checked={rows.every(({ id }) => selected.has(id))}
              onChange={(event) => onSelect(new Set(event.target.checked ? rows.map(({ id }) => id) : []))}
            />
          </ColumnHead>
          <ColumnHead>{texts.columns.state}</ColumnHead>
          <ColumnHead>{texts.columns.event}</ColumnHead>
          <ColumnHead className={classNames(styles.id, typeStyles.meta)}>{texts.columns.delivery}</ColumnHead>
          <ColumnHead>{texts.columns.answer}</ColumnHead>
          <ColumnHead>{texts.columns.attempts}</ColumnHead>
          <ColumnHead numeric className={classNames(styles.took, narrowStyles.hiddenAt560)}>
            {texts.columns.took}
          </ColumnHead>
          <ColumnHead numeric>{texts.columns.when}</ColumnHead>
          <ColumnHead>
            <span className={typeStyles.hidden}>{texts.columns.replay}</span>
          </ColumnHead>
        </tr>
      </thead>
      <tbody>
        {rows.map((delivery) => (
          <DeliveryRow
            key={delivery.id}
            delivery={delivery}
            search={search}
            isPaused={isPaused}
            isSelected={selected.has(delivery.id)}
            onSelect={(isSelected) => {
              const next = new Set(selected)
              if (isSelected) next.add(delivery.id)
              else next.delete(delivery.id)
              onSelect(next)
            }}
          />
        ))}
      </tbody>
    </Table>
  )
}

type DeliveryRowProps = {
  delivery: WebhookDelivery
  search: WebhooksSearch
  isPaused: boolean
  isSelected: boolean
  onSelect: (isSelected: boolean) => void
}

function DeliveryRow({ delivery, search, isPaused, isSelected, onSelect }: DeliveryRowProps) {
  const replay = useReplay(delivery.id)
  const answer = attemptAnswer(delivery.last_status, delivery.last_error_code)
  const isOpen = delivery.id === search.delivery
  return (
    <tr data-open={isOpen ? '' : undefined}>
      <td className={styles.check}>
        <input
          type="checkbox"
          aria-label={texts.select(delivery.id)}
          checked={isSelected}
          onChange={(event) => onSelect(event.target.checked)}
        />
      </td>
      <td className={styles.state}>
        <DeliveryState counts={isCounting(delivery)} lookAt={(now) => webhookDeliveryLook(delivery, isPaused, now)} />
      </td>
      <th scope="row" className={classNames(styles.type, typeStyles.smallLinks, choiceStyles.underlineLinks)}>
        <Link
          className={typeStyles.mono}
          {...paths.webhooks({ ...search, endpoint: delivery.endpoint_id, delivery: delivery.id })}
          replace={search.delivery !== undefined}
          resetScroll={false}
          aria-current={isOpen}
        >
          {delivery.type}
        </Link>
      </th>
      <td className={classNames(typeStyles.mono, styles.id, typeStyles.meta)} title={delivery.id}>
        {shortId(delivery.id)}
      </td>
      <td className={styles.answer}>
        {answer === null ? (
          <Minor>{webhooksTexts.noneYet}</Minor>
        ) : (
          <span className={`${typeStyles.mono} ${answer.isGood ? typeStyles.green : typeStyles.red}`}>
            {answer.text}
          </span>
        )}
      </td>
      <td className={styles.marks}>
        <DeliveryMarks delivery={delivery} />
      </td>
      <NumberCell className={classNames(styles.took, narrowStyles.hiddenAt560)}>
        {delivery.last_duration_ms === null ? null : formatDuration(delivery.last_duration_ms)}
      </NumberCell>
      <NumberCell className={styles.when}>
        <Time at={delivery.created_at} />
      </NumberCell>
      <td className={styles.replay}>
        <IconButton
          size="sm"
          icon="rotate"
          label={texts.replay(delivery.id)}
          why={delivery.is_erased ? texts.erasedWhy : undefined}
          onClick={() => replay.mutate({ retries: false })}
        />
      </td>
    </tr>
  )
}

type StateFilterProps = {
  endpointId: string
  search: WebhooksSearch
  onChange: (state: WebhooksSearch['state']) => void
}

/** All, failed for good, or waiting for a retry; with counts. */
function StateFilter({ endpointId, search, onChange }: StateFilterProps) {
  const failed = useFailedCount(endpointId, 'failed', search)
  const retrying = useFailedCount(endpointId, 'retrying', search)
  return (
    <Segmented
      size="sm"
      label={texts.states}
      value={search.state ?? 'all'}
      options={[
        { value: 'all', label: texts.all },
        { value: 'failed', label: counted(texts.failed, failed) },
        { value: 'retrying', label: counted(texts.retrying, retrying) },
      ]}
      onChange={(value) => onChange(value === 'all' ? undefined : value)}
    />
  )
}

/** The number of deliveries in a state, with the other filters. */
function useFailedCount(endpointId: string, state: 'failed' | 'retrying', { type, from, to }: WebhooksSearch) {
  const refetchInterval = usePolling(POLL_MS)
  const view = { state, type, from, to }
  return useQuery({ ...deliveryCountQuery(endpointId, view), refetchInterval, meta: { quiet: true } }).data
}

const counted = (name: string, count: { total: number; isCapped: boolean } | undefined): string =>
  count === undefined || count.total === 0
    ? name
    : texts.counted(name, `${formatCount(count.total)}${count.isCapped ? '+' : ''}`)

const filterWords = ({ state, type, from, to }: WebhooksSearch): string[] => [
  ...(state === undefined ? [] : [texts[state].toLowerCase()]),
  ...(type === undefined ? [] : [type]),
  ...(from === undefined ? [] : [texts.since(formatDay(from, Date.now(), 'utc'))]),
  ...(to === undefined ? [] : [texts.upTo(formatDay(to, Date.now(), 'utc'))]),
]

function NoDeliveries({ endpointId }: { endpointId: string }) {
  const test = useTestEvent(endpointId)
  return (
    <EmptyState
      kind="setup"
      title={texts.none}
      actions={
        <Button icon="send" busy={test.isPending} onClick={() => test.mutate(undefined)}>
          {webhooksTexts.test}
        </Button>
      }
    >
      {texts.noneText}
    </EmptyState>
  )
}
