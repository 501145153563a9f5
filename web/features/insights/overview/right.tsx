import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Alert } from '../../../api/alert-queries.ts'
import type { MonitorRun } from '../../../api/monitor-queries.ts'
import type { ReleaseRow } from '../../../api/release-queries.ts'
import { paths } from '../../../address/paths.ts'
import type { Range, ShellSearch } from '../../../address/search.ts'
import { useCan } from '../../../app/can.ts'
import { useAcknowledge } from '../../../subjects/alerts/acknowledge.ts'
import { AlertStateMark } from '../../../subjects/alerts/alert-state.tsx'
import { alertTexts } from '../../../subjects/alerts/alert-texts.ts'
import { firingFirst, formatMeasured } from '../../../subjects/alerts/look.ts'
import { shortRelease } from '../../../subjects/figures/filter-model.ts'
import { VerdictBadge } from '../../../subjects/figures/verdict-badge.tsx'
import { splitTitle } from '../../../subjects/issue/headline.ts'
import { Bar } from '../../../ui/bar.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { formatShare } from '../../../ui/format.ts'
import { Icon, type IconName } from '../../../ui/icon.tsx'
import { Severity } from '../../../ui/status.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import typeStyles from '../../../ui/type.module.css'
import { isFailing, orderMonitors, type Change, type MonitorPart } from './model.ts'
import { overviewTexts as texts } from './texts.ts'
import styles from './right.module.css'

type ListCardProps = {
  title: string
  about?: string | undefined
  all?: ReactNode
  isEmpty: boolean
  empty: string
  children: ReactNode
}

function ListCard({ title, about, all, isEmpty, empty, children }: ListCardProps) {
  return (
    <Card
      className={fitStyles.clips}
      title={title}
      header={
        <>
          {about === undefined || isEmpty ? null : <Minor>{about}</Minor>}
          <span className={classNames(fitStyles.atEnd, typeStyles.accentLinks, typeStyles.smallLinks)}>{all}</span>
        </>
      }
    >
      {isEmpty ? (
        <Minor as="p" className={fitStyles.inset12}>
          {empty}
        </Minor>
      ) : (
        <ul className={fitStyles.ruled}>{children}</ul>
      )}
    </Card>
  )
}

const CHANGE_ICONS: Readonly<Record<Change['kind'], readonly [IconName, string | undefined]>> = {
  new: ['spark', typeStyles.blue],
  back: ['st-regressed', typeStyles.violet],
  release: ['tag', typeStyles.slate],
  alert: ['bell', typeStyles.red],
  monitor: ['clock', typeStyles.red],
}

/** Changes of the time, newest first. */
export function ChangesCard({
  changes,
  range,
  search,
}: {
  changes: readonly Change[]
  range: Range
  search: ShellSearch
}) {
  return (
    <ListCard title={texts.since(range)} isEmpty={changes.length === 0} empty={texts.noChanges}>
      {changes.map((change) => {
        const [icon, colour] = CHANGE_ICONS[change.kind]
        const { link, name, reason } = explain(change, search)
        return (
          <li key={`${change.kind} ${change.key}`} className={styles.change}>
            <Icon name={icon} className={colour} />
            <div className={fitStyles.shrinks}>
              <p className={fitStyles.breaks}>
                <Link className={classNames(typeStyles.medium, choiceStyles.underlines)} {...link}>
                  {name}
                </Link>{' '}
                {texts.changes[change.kind]}
              </p>
              {reason === null ? null : (
                <Minor as="p" className={styles.reason} title={reason}>
                  {reason}
                </Minor>
              )}
            </div>
            <Minor className={fitStyles.nowrap}>
              <Time at={change.at} as={range === '1h' || range === '24h' ? 'clock' : 'ago'} />
            </Minor>
          </li>
        )
      })}
    </ListCard>
  )
}

function explain(change: Change, { project }: ShellSearch) {
  switch (change.kind) {
    case 'new':
    case 'back': {
      const { name, rest } = splitTitle(change.issue)
      return { link: paths.issue(change.issue.id, { project }), name, reason: rest }
    }
    case 'release': {
      const { id, version, verdict_reason: reason } = change.release
      return { link: paths.release(id), name: shortRelease(version), reason }
    }
    case 'alert': {
      const { id, title, trigger_type: trigger } = change.alert
      return { link: paths.alertHistory({ project, alert: id }), name: title, reason: alertTexts.triggers[trigger] }
    }
    case 'monitor': {
      const { monitor, environment } = change.part
      return {
        link: paths.monitor(monitor.id, { env: environment.name }),
        name: monitor.slug,
        reason: texts.states[environment.problem ?? environment.status],
      }
    }
  }
}

/** Alerts in which a person may still have to do something. */
export function AlertsCard({ alerts, search }: { alerts: readonly Alert[]; search: ShellSearch }) {
  const may = useCan('alerts.write')
  const acknowledge = useAcknowledge()
  return (
    <ListCard
      title={texts.alerts}
      all={<Link {...paths.alerts({ project: search.project })}>{texts.allAlerts}</Link>}
      isEmpty={alerts.length === 0}
      empty={texts.noAlerts}
    >
      {firingFirst([...alerts])
        .slice(0, 5)
        .map((alert) => (
          <li
            key={alert.id}
            className={classNames(styles.alert, choiceStyles.row)}
            data-firing={alert.state === 'firing' ? '' : undefined}
          >
            <Severity severity={alert.severity} word={false} />
            <div className={fitStyles.shrinks}>
              <p className={fitStyles.breaks}>
                <Link className={choiceStyles.underlines} {...paths.alertHistory({ alert: alert.id })}>
                  {alert.title}
                </Link>
              </p>
              <Minor as="p">
                {alertTexts.triggers[alert.trigger_type]}, <Time at={alert.fired_at} />
              </Minor>
            </div>
            <span className={typeStyles.figures}>{formatMeasured(alert.value, alert.unit)}</span>
            {alert.state === 'firing' ? (
              <Button size="sm" why={may.why} onClick={() => acknowledge.mutate(alert)}>
                {alertTexts.acknowledge}
                <span className={typeStyles.hidden}>{alertTexts.which(alert.title)}</span>
              </Button>
            ) : (
              <AlertStateMark state={alert.state} />
            )}
          </li>
        ))}
    </ListCard>
  )
}

const MAX_RELEASES = 4

/** The newest releases with adoption and verdict, as on their page. */
export function ReleasesCard({ releases, search }: { releases: readonly ReleaseRow[]; search: ShellSearch }) {
  return (
    <ListCard
      title={texts.releases}
      about={releases.some(({ adoption }) => adoption !== null) ? texts.adoption : undefined}
      all={<Link {...paths.releases(search)}>{texts.allReleases}</Link>}
      isEmpty={releases.length === 0}
      empty={texts.noReleases}
    >
      {releases.slice(0, MAX_RELEASES).map((release) => (
        <li key={release.id} className={classNames(styles.release, choiceStyles.row)}>
          <Link
            className={classNames(typeStyles.mono, fitStyles.ellipsis, choiceStyles.underlines)}
            title={release.version}
            {...paths.release(release.id)}
          >
            {shortRelease(release.version)}
          </Link>
          {release.adoption === null ? (
            <span />
          ) : (
            <span className={styles.adoption}>
              <Bar share={release.adoption} />
              <Minor className={typeStyles.figures}>{formatShare(release.adoption)}</Minor>
            </span>
          )}
          <VerdictBadge row={release} short />
        </li>
      ))}
    </ListCard>
  )
}

const MAX_MONITORS = 5
const SHOWN_RUNS = 16

/** Monitors, those that need a person first. */
export function MonitorsCard({ parts, search }: { parts: readonly MonitorPart[]; search: ShellSearch }) {
  if (parts.length === 0) return null
  return (
    <ListCard
      title={texts.monitors}
      about={texts.runsShown}
      all={<Link {...paths.monitors({ project: search.project })}>{texts.allMonitors}</Link>}
      isEmpty={false}
      empty=""
    >
      {orderMonitors(parts)
        .slice(0, MAX_MONITORS)
        .map((part) => (
          <MonitorRow key={`${part.monitor.id} ${part.environment.name}`} part={part} />
        ))}
    </ListCard>
  )
}

function MonitorRow({ part }: { part: MonitorPart }) {
  const { monitor, environment } = part
  const runs = environment.runs.slice(-SHOWN_RUNS)
  const isGood = monitor.state === 'active' && environment.status === 'ok' && !environment.is_failing
  return (
    <li className={classNames(styles.monitor, choiceStyles.row)}>
      <Link
        className={classNames(fitStyles.ellipsis, choiceStyles.underlines)}
        title={texts.inEnvironment(monitor.slug, environment.name)}
        {...paths.monitor(monitor.id, { env: environment.name })}
      >
        {monitor.slug}
      </Link>
      <span
        className={classNames(styles.runs, fitStyles.ownColours)}
        role="img"
        aria-label={texts.runs(runs.filter(({ kind }) => kind === 'ok').length, runs.length)}
      >
        {runs.map((run, place) => (
          <i key={place} data-run={lookOfRun(run)} />
        ))}
      </span>
      <span
        className={classNames(
          typeStyles.small,
          fitStyles.textEnd,
          isFailing(part) ? typeStyles.red : isGood ? typeStyles.green : typeStyles.amber,
        )}
      >
        {monitor.state === 'active' ? texts.states[environment.problem ?? environment.status] : texts[monitor.state]}
      </span>
    </li>
  )
}

const lookOfRun = ({ kind }: MonitorRun): 'good' | 'late' | 'bad' | 'open' =>
  kind === 'ok' ? 'good' : kind === 'late' || kind === 'long' ? 'late' : kind === 'running' ? 'open' : 'bad'
