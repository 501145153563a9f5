import type { ReleaseRow, ReleasesHealth } from '../../api/release-queries.ts'
import { axisLabels, bucketLabel } from '../../common/time-axis.ts'
import type { Range } from '../../address/search.ts'
import { formatRate } from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { LineChart, type ChartLine } from '../../ui/line-chart.tsx'
import { StackChart } from '../../ui/stack-chart.tsx'
import { Empty } from '../../ui/states.tsx'
import { releases as texts } from './texts.ts'
import { faultsOf, layersOf, MOST_HOURS, shortNames, valuesOf } from './model.ts'

const THIN = '\u202f'
/** Shares need no decimals but small ones. */
export const formatShare = (share: number | null): string =>
  share === null || share >= 0.01 || share === 0
    ? share === null
      ? formatRate(null)
      : `${Math.round(share * 100)}${THIN}%`
    : `<1${THIN}%`

const HEIGHT_PX = 190

export function AdoptionChart({
  health,
  range,
  rows,
}: {
  health: ReleasesHealth
  range: Range
  rows: readonly ReleaseRow[]
}) {
  const { adoption, interval_seconds: interval } = health
  return (
    <figure className="card panel">
      <figcaption className="card-h">
        <h2>{texts.adoption}</h2>
        <span className="sub">{texts.adoptionUnit}</span>
      </figcaption>
      {adoption === null ? (
        <NoSessions />
      ) : (
        <Adoption adoption={adoption} lines={health.crash_free} interval={interval} range={range} rows={rows} />
      )}
    </figure>
  )
}

type AdoptionProps = {
  adoption: NonNullable<ReleasesHealth['adoption']>
  lines: ReleasesHealth['crash_free']
  interval: number
  range: Range
  rows: readonly ReleaseRow[]
}

function Adoption({ adoption, lines, interval, range, rows }: AdoptionProps) {
  const layers = layersOf(adoption, texts.others)
  const buckets = adoption.times.map((time) => bucketLabel(time, interval, range))
  const last = adoption.totals.findLastIndex((total) => total > 0)
  const newest = layers.at(-1)
  const largest = layers.toSorted((a, b) => (b.shares[last] ?? 0) - (a.shares[last] ?? 0))[0]
  const row = rows.find((one) => one.version === adoption.releases[0]?.version)
  const shown = layers.toReversed()
  return (
    <>
      <div className="panel-b">
        <StackChart
          label={texts.adoptionFinding(
            newest?.label ?? '',
            formatShare(newest?.shares[last] ?? null),
            largest?.label ?? '',
            formatShare(largest?.shares[last] ?? null),
          )}
          heightPx={HEIGHT_PX}
          layers={layers}
          buckets={buckets}
          xLabels={axisLabels(adoption.times, interval, range)}
          faults={faultsOf(lines.slice(0, 1), adoption.times, interval)}
          formatShare={formatShare}
        />
      </div>
      <div className="panel-f">
        <span>
          <Icon name="info" />
          {row === undefined || newest === undefined ? '' : texts.newestAt(newest.label, formatShare(row.adoption))}
        </span>
        <AsTable>
          <thead>
            <tr>
              <th scope="col">{texts.columns.release}</th>
              {ends(adoption.times.length).map((index) => (
                <th scope="col" key={index}>
                  {buckets[index]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((layer) => (
              <tr key={layer.label}>
                <th scope="row">{layer.label}</th>
                {ends(adoption.times.length).map((index) => (
                  <td className="num" key={index}>
                    {formatShare(layer.shares[index] ?? null)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </AsTable>
      </div>
    </>
  )
}

/** The first, the middle and the last place of a chart. */
const ends = (length: number): number[] => [...new Set([0, Math.floor((length - 1) / 2), length - 1])]

const LINE_TONES = ['l0', 'l1', 'l2'] as const
const PLACES = Array.from({ length: MOST_HOURS + 1 }, (_, hour) => texts.hour(hour))
const X_LABELS = [0, 8, 16, 24, 32, 40, 48].map(texts.hour)
const TABLE_HOURS = [1, 4, 8, 24, 48]
const WHOLE = 0.999_999
const BANDS = [
  { from: 0, to: 0.99, label: texts.poor, tone: 'bad' },
  { from: 0.99, to: 0.995, label: texts.watch, tone: 'warn' },
] as const

export function CrashFreeChart({
  lines,
}: {
  lines: readonly Pick<ReleasesHealth['crash_free'][number], 'version' | 'hours'>[]
}) {
  const names = shortNames(lines.map((line) => line.version))
  const known: ChartLine[] = lines
    .map((line, index) => ({
      label: names.get(line.version) ?? line.version,
      tone: LINE_TONES[index] ?? 'l2',
      values: valuesOf(line.hours),
    }))
    .filter((line) => line.values.some((value) => value !== null))
  return (
    <figure className="card panel">
      <figcaption className="card-h">
        <h2>{texts.crashFree}</h2>
        <span className="sub">{texts.crashFreeUnit}</span>
        {known.length < 2 ? null : (
          <span className="legend">
            {known.map((line) => (
              <span key={line.label}>
                <i className={`k l ${line.tone}`} />
                {line.label}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      {known.length === 0 ? (
        <div className="empty panel-none">
          <h3>{texts.noYoung}</h3>
        </div>
      ) : (
        <>
          <div className="panel-b">
            <LineChart
              label={texts.crashFreeFinding(known.map(nowOf))}
              heightPx={HEIGHT_PX}
              lines={known}
              places={PLACES}
              xLabels={X_LABELS}
              bands={BANDS}
              formatTick={(value) =>
                value >= WHOLE ? '100' : (value * 100).toFixed(value * 1000 === Math.round(value * 1000) ? 1 : 2)
              }
              formatValue={formatRate}
            />
          </div>
          <div className="panel-f">
            <span>
              <Icon name="info" />
              {texts.allSoFar}
            </span>
            <AsTable>
              <thead>
                <tr>
                  <th scope="col">{texts.hours}</th>
                  {known.map((line) => (
                    <th scope="col" key={line.label}>
                      {line.label}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {TABLE_HOURS.map((hour) => (
                  <tr key={hour}>
                    <th scope="row">{hour}</th>
                    {known.map((line) => (
                      <td className="num" key={line.label}>
                        {formatRate(line.values[hour] ?? null)}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </AsTable>
          </div>
        </>
      )}
    </figure>
  )
}

function nowOf(line: ChartLine): string {
  const hour = line.values.findLastIndex((value) => value !== null)
  return texts.lineNow(line.label, formatRate(line.values[hour] ?? null), hour)
}

function AsTable({ children }: { children: React.ReactNode }) {
  return (
    <details className="astable">
      <summary>
        <Icon name="menu" />
        <span>{texts.asTable}</span>
      </summary>
      <div className="scroll-x">
        <table className="tiny">{children}</table>
      </div>
    </details>
  )
}

function NoSessions() {
  return (
    <div className="panel-none">
      <Empty kind="setup" title={texts.noSessions}>
        {texts.noSessionsMore}
      </Empty>
    </div>
  )
}
