import { Link } from '@tanstack/react-router'
import type { ScreenRow } from '../../../api/performance-queries.ts'
import { paths } from '../../../address/paths.ts'
import type { PerformanceSearch, ScreenSort } from '../../../address/search.ts'
import { shortRelease } from '../../../subjects/figures/filter-model.ts'
import { FROZEN_LIMITS, SLOW_LIMITS, figureWord, type Limits } from '../../../subjects/figures/limits.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { RangeAxis, RangePlot } from '../../../ui/chart/range-plot.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { Delta } from '../../../ui/delta.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount, formatDuration, formatGrowth, formatRate, NO_DATA } from '../../../ui/format.ts'
import { ColumnHead, NumberCell, Table } from '../../../ui/table.tsx'
import { changeTone, relativeGrowth, rangeEnd, rangeTone } from './model.ts'
import { performanceTexts } from './texts.ts'
import styles from './screens-table.module.css'
import typeStyles from '../../../ui/type.module.css'

type ScreensTableProps = {
  rows: readonly ScreenRow[]
  /** The releases that are compared; null for the range before. */
  releases: { release: string; previous: string } | null
  search: PerformanceSearch
  sort: ScreenSort
  /** Sorts by another column; absent where the table shows only the slowest. */
  onSort?: (sort: ScreenSort) => void
}

/** Screens and pages with the range of their times. */
export function ScreensTable({ rows, releases, search, sort, onSort }: ScreensTableProps) {
  const end = rangeEnd(rows)
  const { columns } = performanceTexts
  const head = (key: ScreenSort, text: string, numeric = true) => (
    <SortHead sort={key} active={sort === key} numeric={numeric} onSort={onSort}>
      {text}
    </SortHead>
  )
  return (
    <Table scrollLabel={figuresTexts.tableOf(performanceTexts.screens)} className={styles.table}>
      <thead>
        <tr>
          {head('name', columns.screen, false)}
          {head('-count', columns.loads)}
          <ColumnHead className={styles.range}>
            <RangeAxis end={end} format={(ms) => (ms === 0 ? '0' : formatDuration(ms))} />
            <span className={typeStyles.hidden}>{columns.range}</span>
          </ColumnHead>
          {head('-p75', figuresTexts.p75)}
          {head('-p95', figuresTexts.p95)}
          <ColumnHead numeric>{columns.full}</ColumnHead>
          <ColumnHead numeric>{columns.slow}</ColumnHead>
          <ColumnHead numeric>{columns.frozen}</ColumnHead>
          <ColumnHead numeric>
            {releases === null ? columns.before : columns.release(shortRelease(releases.previous))}
          </ColumnHead>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={`${row.op} ${row.name}`} row={row} end={end} search={search} compares={releases !== null} />
        ))}
      </tbody>
    </Table>
  )
}

type SortHeadProps = {
  sort: ScreenSort
  active: boolean
  numeric: boolean
  onSort: ScreensTableProps['onSort']
  children: string
}

function SortHead({ sort, active, numeric, onSort, children }: SortHeadProps) {
  const order = sort.startsWith('-') ? 'descending' : 'ascending'
  return (
    <th scope="col" data-numeric={numeric ? '' : undefined} aria-sort={active ? order : undefined}>
      {onSort === undefined ? (
        children
      ) : (
        <button
          type="button"
          className={classNames(styles.sort, choiceStyles.lightens)}
          title={performanceTexts.sortBy(children)}
          onClick={() => onSort(sort)}
        >
          {children}
        </button>
      )}
      {active ? <span aria-hidden="true">{sort.startsWith('-') ? ' ↓' : ' ↑'}</span> : null}
    </th>
  )
}

type RowProps = { row: ScreenRow; end: number; search: PerformanceSearch; compares: boolean }

function Row({ row, end, search, compares }: RowProps) {
  const { render } = row
  const { p50_ms: p50, p75_ms: p75, p95_ms: p95 } = render
  return (
    <tr>
      <th scope="row">
        <Link
          {...paths.screens({ ...search, screen: row.name })}
          className={classNames(choiceStyles.underlinesApart, fitStyles.block, fitStyles.ellipsis)}
          title={row.name}
        >
          {row.name}
        </Link>
      </th>
      <NumberCell>{formatCount(row.count)}</NumberCell>
      <td className={styles.range}>
        {p50 === null || p75 === null || p95 === null ? null : (
          <RangePlot
            low={p50}
            middle={p75}
            high={p95}
            end={end}
            middleTone={rangeTone(p75)}
            highTone={rangeTone(p95) === 'bad' ? 'bad' : 'plain'}
          />
        )}
        <span className={typeStyles.hidden}>
          {performanceTexts.ranged(formatDuration(p50), formatDuration(p75), formatDuration(p95))}
        </span>
      </td>
      <DurationCell ms={p75} />
      <DurationCell ms={p95} />
      <DurationCell ms={row.ttfd.p75_ms} />
      <RatioCell ratio={row.slow_frame_ratio} limits={SLOW_LIMITS} />
      <RatioCell ratio={row.frozen_frame_ratio} limits={FROZEN_LIMITS} />
      <NumberCell>
        <Growth growth={compares ? (row.compared?.change ?? null) : relativeGrowth(p75, row.previous_p75_ms)} />
      </NumberCell>
    </tr>
  )
}

const None = () => <span className={typeStyles.quiet}>{NO_DATA}</span>

export const DurationCell = ({ ms }: { ms: number | null }) => (
  <NumberCell>{ms === null ? <None /> : formatDuration(ms)}</NumberCell>
)

/** A share of frames; from its limit on the figure has the colour of its word, which its title says. */
export function RatioCell({ ratio, limits }: { ratio: number | null; limits: Limits }) {
  const word = figureWord(ratio, limits)
  if (ratio === null || word === null)
    return (
      <NumberCell>
        <None />
      </NumberCell>
    )
  return (
    <NumberCell title={figuresTexts.words[word]}>
      {word === 'good' ? (
        formatRate(ratio)
      ) : (
        <b className={word === 'poor' ? typeStyles.red : typeStyles.amber}>{formatRate(ratio)}</b>
      )}
    </NumberCell>
  )
}

function Growth({ growth }: { growth: number | null }) {
  return growth === null ? <None /> : <Delta change={changeTone(growth)}>{formatGrowth(growth)}</Delta>
}
