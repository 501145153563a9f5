import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ALERT_STATES, type AlertState } from '#shared/alert-rules.ts'
import { alertHistoryQuery, alertRuleQuery, alertRulesQuery, type Alert } from '../../api/alert-queries.ts'
import { usePolling } from '../../api/live.ts'
import type { AlertHistorySearch } from '../../address/search.ts'
import { alertTexts } from '../../subjects/alerts/alert-texts.ts'
import { AlertStateMark } from '../../subjects/alerts/alert-state.tsx'
import { formatMeasured } from '../../subjects/alerts/look.ts'
import { useKeys } from '../../app/keys.ts'
import { rowKeys, stepFrom } from '../../app/row-keys.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { MoreFoot } from '../../frames/more-button.tsx'
import { PageQuery } from '../../frames/page-query.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import choiceStyles from '../../ui/choice.module.css'
import { classNames } from '../../ui/class-names.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import fitStyles from '../../ui/fit.module.css'
import { Menu } from '../../ui/menu.tsx'
import narrowStyles from '../../ui/narrow.module.css'
import { Segmented } from '../../ui/segmented.tsx'
import { Toolbar } from '../../ui/stack.tsx'
import { Severity } from '../../ui/status.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Minor } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'
import { AlertDetail } from './alert-detail.tsx'
import { alertsTexts as texts } from './texts.ts'
import styles from './history-page.module.css'
import listStyles from './lists.module.css'
import typeStyles from '../../ui/type.module.css'

const route = getRouteApi('/signed-in/shell/alerts/history')

/** Every alert that fired, newest first; one of them is open. */
export function HistoryPage() {
  usePageTitle(texts.titles.history)
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const refetchInterval = usePolling(15_000)
  const history = useInfiniteQuery({ ...alertHistoryQuery(search), refetchInterval })
  const alerts = history.data?.pages.flatMap(({ items }) => items) ?? []
  const show = (change: Partial<AlertHistorySearch>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), resetScroll: false })
  const open = (id: string) =>
    void navigate({
      search: (before) => ({ ...before, alert: id }),
      replace: search.alert !== undefined,
      resetScroll: false,
    })
  const step = (by: number) => {
    const next = stepFrom(alerts, ({ id }) => id === search.alert, by)
    if (next !== undefined) open(next.id)
  }
  useKeys(rowKeys(texts, step))
  const isFiltered = search.state !== undefined || search.rule !== undefined
  return (
    <div
      className={classNames(styles.columns, fitStyles.columns)}
      data-detail={search.alert === undefined ? undefined : ''}
    >
      <div className={classNames(styles.list, search.alert !== undefined && narrowStyles.hiddenAt1064)}>
        <Card className={fitStyles.clips} aria-label={texts.historyWhat}>
          <Filters search={search} onChange={show} />
          <PageQuery query={history} what={texts.historyWhat} rows={8}>
            {() =>
              alerts.length > 0 ? (
                <HistoryTable alerts={alerts} openId={search.alert} />
              ) : isFiltered ? (
                <FilteredAway search={search} onClear={() => show({ state: undefined, rule: undefined })} />
              ) : (
                <EmptyState kind="good" title={texts.noHistory}>
                  {texts.noHistoryText}
                </EmptyState>
              )
            }
          </PageQuery>
          <MoreFoot list={history}>{texts.showMore}</MoreFoot>
        </Card>
      </div>
      {search.alert === undefined ? null : (
        <AlertDetail key={search.alert} alertId={search.alert} onClose={() => show({ alert: undefined })} />
      )}
    </div>
  )
}

type FiltersProps = { search: AlertHistorySearch; onChange: (change: Partial<AlertHistorySearch>) => void }

function Filters({ search, onChange }: FiltersProps) {
  const rules = useInfiniteQuery(alertRulesQuery(search.project ?? null))
  const { hasNextPage, isFetching, isError, fetchNextPage } = rules
  // The menu offers every rule; a page holds a hundred.
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage()
  }, [hasNextPage, isFetching, isError, fetchNextPage])
  const chosen = useRuleName(search.rule)
  const items = rules.data?.pages.flatMap((page) => page.items) ?? []
  const [state, ...others] = search.state ?? []
  return (
    <Toolbar className={styles.filters}>
      <Segmented<AlertState | 'all' | 'several'>
        label={texts.states}
        size="sm"
        value={others.length > 0 ? 'several' : (state ?? 'all')}
        options={[
          { value: 'all', label: texts.anyState },
          ...ALERT_STATES.map((value) => ({ value, label: alertTexts.states[value] })),
        ]}
        onChange={(value) => onChange({ state: value === 'all' || value === 'several' ? undefined : [value] })}
      />
      <Menu
        label={texts.rule}
        trigger={
          <Button size="sm" caret>
            {search.rule === undefined ? texts.anyRule : (chosen ?? texts.thisRule)}
          </Button>
        }
        entries={[
          { label: texts.anyRule, checked: search.rule === undefined, onSelect: () => onChange({ rule: undefined }) },
          { kind: 'separator' },
          ...items.map((rule) => ({
            label: rule.name,
            note: rule.project.name,
            checked: rule.id === search.rule,
            onSelect: () => onChange({ rule: rule.id }),
          })),
        ]}
      />
    </Toolbar>
  )
}

function useRuleName(ruleId: string | undefined): string | undefined {
  return useQuery({ ...alertRuleQuery(ruleId ?? ''), enabled: ruleId !== undefined }).data?.name
}

function FilteredAway({ search, onClear }: { search: AlertHistorySearch; onClear: () => void }) {
  const rule = useRuleName(search.rule)
  const words = [
    ...(search.state ?? []).map((state) => alertTexts.states[state].toLowerCase()),
    ...(search.rule === undefined ? [] : [rule ?? texts.thisRule]),
  ]
  return (
    <EmptyState
      kind="filtered"
      title={texts.filteredTitle}
      actions={<Button onClick={onClear}>{texts.clearFilters}</Button>}
    >
      {texts.filteredText(words.join(', '))}
    </EmptyState>
  )
}

function HistoryTable({ alerts, openId }: { alerts: readonly Alert[]; openId: string | undefined }) {
  return (
    <DataTable
      cards
      className={classNames(styles.table, choiceStyles.selectableRows)}
      rows={alerts}
      keyOf={({ id }) => id}
      rowAttributes={({ id }) => ({ 'data-selected': id === openId ? '' : undefined })}
      columns={[
        { head: texts.columns.alert, cell: (alert) => <AlertName alert={alert} isOpen={alert.id === openId} /> },
        {
          head: texts.columns.value,
          numeric: true,
          className: classNames(styles.value, typeStyles.medium),
          cell: ({ value, unit }) => formatMeasured(value, unit),
        },
        {
          head: texts.columns.state,
          className: classNames(styles.state, fitStyles.nowrap),
          cell: ({ state }) => <AlertStateMark state={state} />,
        },
        {
          head: texts.columns.deliveries,
          className: classNames(styles.deliveries, fitStyles.nowrap),
          cell: (alert) => <DeliveryCount alert={alert} />,
        },
        {
          head: texts.columns.fired,
          numeric: true,
          className: classNames(styles.fired, typeStyles.meta),
          cell: (alert) => <Time at={alert.fired_at} />,
        },
      ]}
    />
  )
}

const AlertName = ({ alert, isOpen }: { alert: Alert; isOpen: boolean }) => (
  <div className={styles.alert}>
    <Severity severity={alert.severity} word={false} />
    <div className={classNames(listStyles.body, fitStyles.shrinks)}>
      <Link
        className={classNames(listStyles.title, choiceStyles.underlines)}
        from="/alerts/history"
        to="/alerts/history"
        search={(before) => ({ ...before, alert: alert.id })}
        resetScroll={false}
        aria-current={isOpen ? 'true' : undefined}
      >
        {alert.title}
      </Link>
      <Minor as="p" className={fitStyles.ellipsis}>
        {alert.rule_name}, {alert.project.name}
      </Minor>
    </div>
  </div>
)

function DeliveryCount({ alert: { deliveries } }: { alert: Alert }) {
  const sent = deliveries.filter(({ state }) => state !== 'skipped')
  const failed = sent.filter(({ state, next_attempt_at: nextAt }) => state === 'failed' && nextAt === null).length
  const delivered = sent.filter(({ state }) => state === 'delivered').length
  if (sent.length === 0) return <Minor>{texts.noDeliveries}</Minor>
  return (
    <Minor>
      {texts.delivered(delivered, sent.length)}
      {failed === 0 ? null : (
        <>
          {', '}
          <span className={typeStyles.red}>{texts.someFailed(failed)}</span>
        </>
      )}
    </Minor>
  )
}
