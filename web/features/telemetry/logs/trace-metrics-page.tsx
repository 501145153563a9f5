import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import {
  measurementsQuery,
  metricNamesQuery,
  metricSeriesQuery,
  toPeriod,
  type MetricName,
  type TraceMetricSeries,
} from '../../../api/log-queries.ts'
import { carried, paths } from '../../../address/paths.ts'
import { METRIC_AGGREGATES, selectedWindow, type TraceMetricsSearch } from '../../../address/search.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { ChooseProject, useProjectTitle } from '../../../frames/choose-project.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { WindowNote } from '../../../subjects/figures/window-note.tsx'
import { buttonLook } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { InputBox, SelectField } from '../../../ui/field.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Icon } from '../../../ui/icon.tsx'
import { PageHead } from '../../../ui/page-head.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import typeStyles from '../../../ui/type.module.css'
import { MetricChart } from './metric-chart.tsx'
import { attributeValue } from './model.ts'
import { chooseAggregate, formatMeasure, nameGroup } from './metric-model.ts'
import { traceMetricsTexts as texts } from './trace-metrics-texts.ts'
import styles from './trace-metrics-page.module.css'

const route = getRouteApi('/signed-in/shell/trace-metrics')
const REFRESH_MS = 60_000

/** The explorer of trace metrics: which exist, and one of them over time. */
export function TraceMetricsPage() {
  const search = route.useSearch()
  useProjectTitle(texts.title, search.project)
  usePrefs()
  return (
    <PageMain>
      <PageHead
        actions={
          <Link {...paths.logs(carried(search))} {...buttonLook({ look: 'ghost' })}>
            <Icon name="logs" />
            <span>{texts.logs}</span>
          </Link>
        }
      >
        <h1>{texts.title}</h1>
      </PageHead>
      {search.project === undefined ? (
        <ChooseProject search={search} pageOf={paths.traceMetrics} />
      ) : (
        <Explorer key={search.project} projectId={search.project} search={search} />
      )}
    </PageMain>
  )
}

type ExplorerProps = { projectId: string; search: TraceMetricsSearch }

function Explorer({ projectId, search }: ExplorerProps) {
  const navigate = route.useNavigate()
  const change = (next: Partial<TraceMetricsSearch>) => void navigate({ search: (before) => ({ ...before, ...next }) })
  const period = toPeriod(search, '24h')
  const names = useQuery({
    ...metricNamesQuery(projectId, period),
    refetchInterval: 'to' in period ? false : REFRESH_MS,
  })
  const window = selectedWindow(search)
  return (
    <>
      <WindowNote window={window} onWhole={() => change({ from: undefined, to: undefined })} />
      <PageQuery query={names} what={texts.what} heightPx={420}>
        {({ items, has_more: hasMore }) => {
          const shown = items.find(({ name }) => name === search.name) ?? items[0]
          if (shown === undefined)
            return (
              <Card>
                <EmptyState kind="setup" title={texts.emptyTitle}>
                  {texts.emptyText}
                </EmptyState>
              </Card>
            )
          return (
            <div className={classNames(fitStyles.columns, styles.columns)}>
              <Names items={items} hasMore={hasMore} shown={shown.name} search={search} />
              <Metric key={shown.name} projectId={projectId} search={search} metric={shown} onChange={change} />
            </div>
          )
        }}
      </PageQuery>
    </>
  )
}

type NamesProps = { items: readonly MetricName[]; hasMore: boolean; shown: string; search: TraceMetricsSearch }

function Names({ items, hasMore, shown, search }: NamesProps) {
  const [find, setFind] = useState('')
  const found = items.filter(({ name }) => name.toLowerCase().includes(find.trim().toLowerCase()))
  return (
    <Card as="div" title={texts.names}>
      <div className={fitStyles.inset10}>
        <InputBox>
          <input
            type="search"
            aria-label={texts.find}
            placeholder={texts.find}
            value={find}
            onChange={(event) => setFind(event.target.value)}
          />
        </InputBox>
      </div>
      <nav aria-label={texts.names} className={classNames(styles.list, choiceStyles.choices)}>
        {found.map(({ name, type, unit, last_value: value }) => (
          <Link
            key={name}
            {...paths.traceMetrics({ ...search, name, by: undefined, show: undefined })}
            aria-current={name === shown ? 'page' : undefined}
          >
            <bdi className={classNames(fitStyles.wholeRow, fitStyles.ellipsis)} title={name}>
              {name}
            </bdi>
            <Minor>{texts.types[type]}</Minor>
            <Minor className={typeStyles.figures}>{formatMeasure(value, unit)}</Minor>
          </Link>
        ))}
      </nav>
      {found.length === 0 ? (
        <Minor as="p" className={fitStyles.inset10}>
          {texts.noneFound}
        </Minor>
      ) : null}
      {hasMore ? (
        <Minor as="p" className={fitStyles.inset10}>
          {texts.manyNames}
        </Minor>
      ) : null}
    </Card>
  )
}

type MetricProps = ExplorerProps & { metric: MetricName; onChange: (change: Partial<TraceMetricsSearch>) => void }

function Metric({ projectId, search, metric, onChange }: MetricProps) {
  const period = toPeriod(search, '24h')
  const series = useQuery({
    ...metricSeriesQuery(projectId, period, metric.name, search.by),
    refetchInterval: 'to' in period ? false : REFRESH_MS,
  })
  const show = search.show ?? chooseAggregate(metric.type)
  return (
    <div className={fitStyles.column}>
      <div className={styles.controls}>
        <SelectField
          label={texts.show}
          value={show}
          onChange={({ target }) => onChange({ show: METRIC_AGGREGATES.find((one) => one === target.value) })}
        >
          {METRIC_AGGREGATES.map((one) => (
            <option key={one} value={one}>
              {texts.aggregates[one]}
            </option>
          ))}
        </SelectField>
        <SelectField
          label={texts.groupBy}
          value={search.by ?? ''}
          onChange={({ target }) => onChange({ by: target.value === '' ? undefined : target.value })}
        >
          <option value="">{texts.noGroup}</option>
          {[...new Set([...(series.data?.attributes ?? []), ...(search.by === undefined ? [] : [search.by])])].map(
            (name) => (
              <option key={name}>{name}</option>
            ),
          )}
        </SelectField>
      </div>
      <PageQuery query={series} what={metric.name} heightPx={300}>
        {(data) => (
          <>
            <MetricChart
              series={data}
              show={show}
              by={search.by}
              onWindow={(next) => onChange({ from: next?.from, to: next?.to })}
            />
            <Groups series={data} by={search.by} />
          </>
        )}
      </PageQuery>
      <Measurements projectId={projectId} period={period} metric={metric} />
    </div>
  )
}

function Groups({ series, by }: { series: TraceMetricSeries; by: string | undefined }) {
  const rows = [
    ...(by === undefined ? [] : series.groups.map((group) => ({ name: nameGroup(group), total: group.total }))),
    { name: texts.all, total: series.total },
  ]
  return (
    <Card className={fitStyles.clips} title={texts.groups}>
      <DataTable
        scrollLabel={texts.tableOf(texts.groups)}
        rows={rows}
        keyOf={({ name }, place) => `${place} ${name}`}
        columns={[
          { head: by ?? texts.group, isName: true, cell: ({ name }) => <bdi>{name}</bdi> },
          ...METRIC_AGGREGATES.map((one) => ({
            head: texts.aggregates[one],
            numeric: true,
            cell: ({ total }: (typeof rows)[number]) => formatMeasure(total[one], one === 'count' ? null : series.unit),
          })),
        ]}
      />
    </Card>
  )
}

type MeasurementsProps = { projectId: string; period: ReturnType<typeof toPeriod>; metric: MetricName }

function Measurements({ projectId, period, metric }: MeasurementsProps) {
  const list = useQuery(measurementsQuery(projectId, period, metric.name))
  const { columns } = texts
  return (
    <Card className={fitStyles.clips} title={texts.newest}>
      <PageQuery query={list} what={texts.newest} rows={6}>
        {({ items }) => (
          <DataTable
            scrollLabel={texts.tableOf(texts.newest)}
            className={fitStyles.nowrapAll}
            rows={items}
            keyOf={({ id }) => id}
            columns={[
              { head: columns.time, className: typeStyles.figures, cell: ({ occurred_at: at }) => <Time at={at} /> },
              { head: columns.value, numeric: true, cell: ({ value, unit }) => formatMeasure(value, unit) },
              { head: columns.environment, cell: ({ environment }) => environment },
              {
                head: columns.attributes,
                className: classNames(styles.attributes, fitStyles.ellipsis, typeStyles.mono),
                cell: ({ attributes }) => <bdi>{listOwn(attributes)}</bdi>,
                title: ({ attributes }) => listOwn(attributes),
              },
              {
                head: columns.trace,
                isHeadHidden: true,
                className: typeStyles.links,
                cell: ({ trace_id: trace }) =>
                  trace === null ? null : <Link {...paths.trace(trace)}>{texts.openTrace}</Link>,
              },
            ]}
          />
        )}
      </PageQuery>
    </Card>
  )
}

/** Attributes of a measurement in one line, without those that SDKs add to each. */
const listOwn = (
  attributes: Parameters<typeof attributeValue>[0] extends infer A ? Readonly<Record<string, A>> : never,
): string =>
  Object.entries(attributes)
    .filter(([name]) => !name.startsWith('sentry.'))
    .slice(0, 8)
    .map(([name, attribute]) => `${name}=${attributeValue(attribute).text.slice(0, 80)}`)
    .join(' ')
