import { MINUTE_MS } from '../../../ui/format.ts'
import { useQuery } from '@tanstack/react-query'
import { issueReleasesQuery } from '../../../api/issue-event-queries.ts'
import { releaseMarkersQuery } from '../../../api/marker-queries.ts'
import { decideTexts } from '../../../subjects/issue/decide-texts.ts'
import { buildTrack, type TrackNode } from './track-model.ts'
import { shortVersion } from '../../../subjects/issue/trend.ts'
import issueStyles from './issue.module.css'
import styles from './track.module.css'

type IssueTrackProps = {
  issueId: string
  projectId: string
  /** Full names of releases. */
  fixed: string
  back: string
  /** The time of the regression. */
  at: string
}

const LOOK_BACK_MS = 180 * 86_400_000

/** The line of releases: where the issue was seen, fixed, not seen, and seen again. */
export function IssueTrack({ issueId, projectId, fixed, back, at }: IssueTrackProps) {
  const since = new Date(Date.parse(at) - LOOK_BACK_MS).toISOString()
  // The release may have been created by the event of the regression.
  const until = new Date(Date.parse(at) + MINUTE_MS).toISOString()
  const markers = useQuery({ ...releaseMarkersQuery([projectId], since, until), meta: { quiet: true } })
  const met = useQuery({ ...issueReleasesQuery(issueId), meta: { quiet: true } })
  const seen = new Set((met.data?.items ?? []).flatMap(({ release }) => (release === null ? [] : [release])))
  return <Track nodes={buildTrack(fixed, back, markers.data?.items ?? [], seen)} />
}

const WIDTH = 420
const EDGE = 24
/** Width of a character of a label. */
const CHARACTER = 6
/** Distance between the middle of a large mark and the lines beside it. */
const ROOM = 8

/** The positions of the releases. Two releases are farther from the edges. */
const placesOf = (count: number): number[] =>
  count <= 2
    ? [WIDTH / 4, (WIDTH * 5) / 6]
    : Array.from({ length: count }, (_, index) => EDGE + ((WIDTH - 2 * EDGE) * index) / (count - 1))

function Track({ nodes }: { nodes: readonly TrackNode[] }) {
  const places = placesOf(nodes.length)
  const maxLength = Math.floor((nodes.length <= 2 ? WIDTH / 2 : (places[1] ?? 0) - (places[0] ?? 0)) / CHARACTER) - 1
  const fixedAt = nodes.findIndex(({ kind }) => kind === 'fixed')
  const xOf = (index: number): number => places[index] ?? 0
  const [first, fix, last] = [xOf(0), xOf(fixedAt), xOf(nodes.length - 1)]
  // The line breaks halfway to the regression.
  const gap = (xOf(nodes.length - 2) + last) / 2
  return (
    <svg
      className={issueStyles.track}
      viewBox={`0 0 ${WIDTH} 46`}
      role="img"
      aria-label={decideTexts.track(nodes.map(saidOf))}
    >
      <path className={styles.tkOld} d={`M${fixedAt === 0 ? fix - 86 : first} 16H${fix - ROOM}`} />
      <path className={styles.tkFix} d={`M${fix + ROOM} 16H${gap - ROOM}`} />
      <path className={styles.tkGap} d={`M${gap + 4} 6l-8 20`} />
      <path className={styles.tkBad} d={`M${gap + ROOM} 16H${last - ROOM}`} />
      {nodes.map(({ version, kind, isSeen }, index) => {
        const x = xOf(index)
        const large = kind === 'fixed' || kind === 'back'
        const name = short(shortVersion(version), kind === 'fixed' ? Math.max(3, maxLength - 6) : maxLength)
        return (
          <g key={version}>
            <title>{version}</title>
            {kind === 'fixed' ? (
              <>
                <circle className={issueStyles.fx} cx={x} cy="16" r="7" />
                <path className={issueStyles.fxm} d={`M${x - 3} 16.2l2.2 2.2 4-4.4`} />
              </>
            ) : kind === 'back' ? (
              <>
                <circle className={issueStyles.bd} cx={x} cy="16" r="7" />
                <path className={issueStyles.bdm} d={`M${x} 12.6v4M${x} 19h.01`} />
              </>
            ) : (
              <circle className={kind === 'between' && !isSeen ? issueStyles.ok : issueStyles.o} cx={x} cy="16" r="4" />
            )}
            <text x={x} y="41" textAnchor="middle" className={large ? issueStyles.b : undefined}>
              {kind === 'fixed' ? decideTexts.fixed(name) : name}
            </text>
          </g>
        )
      })}
    </svg>
  )
}

const saidOf = ({ version, kind, isSeen }: TrackNode): string =>
  `${shortVersion(version)} ${decideTexts.trackStates[kind === 'fixed' || kind === 'back' ? kind : isSeen ? 'seen' : 'clean']}`

const short = (version: string, maxLength: number): string =>
  version.length > maxLength ? `${version.slice(0, maxLength - 1)}…` : version
