import { Link } from '@tanstack/react-router'
import type { ScreenRow } from '../../../api/performance-queries.ts'
import { paths } from '../../../address/paths.ts'
import type { PerformanceSearch, ScreenSort } from '../../../address/search.ts'
import { shortRelease } from '../../../subjects/figures/filter-model.ts'
import { FROZEN_LIMITS, SLOW_LIMITS } from '../../../subjects/figures/limits.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { RangeAxis, RangePlot } from '../../../ui/chart/range-plot.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { Delta } from '../../../ui/delta.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount, formatDuration, formatGrowth } from '../../../ui/format.ts'
import { NoData } from '../../../ui/text.tsx'
import { DataTable, type Column } from '../../../ui/data-table.tsx'
import { Duration, Ratio } from './columns.tsx'
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
  // Pages have no frames and no full display.
  const hasFrames = rows.some(({ op }) => op === 'ui.load')
  const end = rangeEnd(rows)
  const { columns } = performanceTexts
  const sortable = (key: ScreenSort, text: string): Pick<Column<ScreenRow>, 'head' | 'sorted'> => ({
    head: (
      <SortHead sort={key} active={sort === key} onSort={onSort}>
        {text}
      </SortHead>
    ),
    sorted: sort !== key ? undefined : key.startsWith('-') ? 'descending' : 'ascending',
  })
  const ofScreens: Column<ScreenRow>[] = [
    { head: columns.full, numeric: true, cell: ({ ttfd }) => <Duration ms={ttfd.p75_ms} /> },
    { head: columns.slow, numeric: true, cell: (row) => <Ratio of={row.slow_frame_ratio} limits={SLOW_LIMITS} /> },
    {
      head: columns.frozen,
      numeric: true,
      cell: (row) => <Ratio of={row.frozen_frame_ratio} limits={FROZEN_LIMITS} />,
    },
  ]
  return (
    <DataTable
      scrollLabel={figuresTexts.tableOf(hasFrames ? performanceTexts.screens : performanceTexts.pages)}
      className={styles.table}
      rows={rows}
      keyOf={({ op, name }) => `${op} ${name}`}
      columns={[
        {
          ...sortable('name', hasFrames ? columns.screen : columns.page),
          cell: ({ name }) => (
            <Link
              {...paths.screens({ ...search, screen: name })}
              className={classNames(choiceStyles.underlinesApart, fitStyles.block, fitStyles.ellipsis)}
              title={name}
            >
              {name}
            </Link>
          ),
        },
        { ...sortable('-count', columns.loads), numeric: true, cell: ({ count }) => formatCount(count) },
        {
          head: (
            <>
              <RangeAxis end={end} format={(ms) => (ms === 0 ? '0' : formatDuration(ms))} />
              <span className={typeStyles.hidden}>{columns.range}</span>
            </>
          ),
          headClass: styles.range,
          className: styles.range,
          cell: ({ render }) => <Range render={render} end={end} />,
        },
        { ...sortable('-p75', figuresTexts.p75), numeric: true, cell: ({ render }) => <Duration ms={render.p75_ms} /> },
        { ...sortable('-p95', figuresTexts.p95), numeric: true, cell: ({ render }) => <Duration ms={render.p95_ms} /> },
        ...(hasFrames ? ofScreens : []),
        {
          head: releases === null ? columns.before : columns.release(shortRelease(releases.previous)),
          numeric: true,
          cell: ({ compared, render, previous_p75_ms: before }) => {
            const growth = releases === null ? relativeGrowth(render.p75_ms, before) : (compared?.change ?? null)
            return growth === null ? <NoData /> : <Delta change={changeTone(growth)}>{formatGrowth(growth)}</Delta>
          },
        },
      ]}
    />
  )
}

type SortHeadProps = {
  sort: ScreenSort
  active: boolean
  onSort: ScreensTableProps['onSort']
  children: string
}

const SortHead = ({ sort, active, onSort, children }: SortHeadProps) => (
  <>
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
  </>
)

function Range({
  render: { p50_ms: p50, p75_ms: p75, p95_ms: p95 },
  end,
}: Pick<ScreenRow, 'render'> & { end: number }) {
  return (
    <>
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
    </>
  )
}
