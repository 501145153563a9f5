import { Breakable } from '../../../../ui/breakable.tsx'
import { DisclosureIcon } from '../../../../ui/disclosure-icon.tsx'
import type { Frame } from '../../../../../server/events/protocol/event.api.ts'
import choiceStyles from '../../../../ui/choice.module.css'
import { classNames } from '../../../../ui/class-names.ts'
import fitStyles from '../../../../ui/fit.module.css'
import type { CSSProperties, ReactNode } from 'react'
import { Code } from '../../../../ui/highlight.tsx'
import { Minor } from '../../../../ui/text.tsx'
import typeStyles from '../../../../ui/type.module.css'
import { Icon } from '../../../../ui/icon.tsx'
import type { IssueDetail } from '../../../../api/issue-queries.ts'
import { commitsTexts } from '../commits-texts.ts'
import { issueTexts } from '../texts.ts'
import { Values } from '../contexts/value.tsx'
import { hasInside, frameLocation, splitFrameName, frameSource, type SourceLine } from './model.ts'
import styles from './frame.module.css'
import issueStyles from '../issue.module.css'

/** Where the files of frames are in the repository. */
export type SourceLinks = IssueDetail['code']['source_links']

type FrameProps = { frame: Frame; platform: string; open: boolean; links: SourceLinks }

/** A frame: function and location, and below them source code and local variables. */
export function StackFrame({ frame, platform, open, links }: FrameProps) {
  const line = (
    <>
      <FrameLine frame={frame} platform={platform} expands={hasInside(frame)} />
      <SourceLink frame={frame} links={links} />
    </>
  )
  if (!hasInside(frame))
    return (
      <div className={classNames(issueStyles.frame, choiceStyles.rowSummary)} data-in-app={frame.in_app}>
        {line}
      </div>
    )
  const source = frameSource(frame)
  const vars = Object.entries(frame.vars ?? {})
  return (
    <details className={classNames(issueStyles.frame, choiceStyles.rowSummary)} data-in-app={frame.in_app} open={open}>
      <summary>{line}</summary>
      {source === null ? null : <Source lines={source} />}
      {vars.length === 0 ? null : (
        <details className={styles.vars}>
          <summary>
            <DisclosureIcon />
            {issueTexts.locals} <Minor>{vars.length}</Minor>
          </summary>
          <Values values={vars} />
        </details>
      )}
    </details>
  )
}

function FrameLine({ frame, platform, expands }: { frame: Frame; platform: string; expands: boolean }): ReactNode {
  const { path, type, name } = splitFrameName(frame, platform)
  const location = frameLocation(frame)
  return (
    <>
      {expands ? <DisclosureIcon /> : <span className={styles.noArrow} />}
      <span
        className={classNames(issueStyles.fn, fitStyles.shrinks, fitStyles.ellipsis, !frame.in_app && typeStyles.soft)}
      >
        {path === '' ? null : <span className={typeStyles.quiet}>{path}</span>}
        {type}
        <b>{name}</b>
      </span>
      {frame.unreadable === undefined ? null : (
        <Minor title={issueTexts.unreadable.why[frame.unreadable]}>{issueTexts.unreadable.frame}</Minor>
      )}
      {location === '' ? null : (
        <span className={issueStyles.loc} title={frame.abs_path ?? frame.package ?? undefined}>
          <Breakable text={location} />
        </span>
      )}
    </>
  )
}

/** Leads to the line of the frame in the repository. */
function SourceLink({ frame, links }: { frame: Frame; links: SourceLinks }) {
  const file = frame.filename ?? frame.abs_path
  const link = frame.in_app ? links.find((one) => one.file === file) : undefined
  if (link === undefined) return null
  const label = (link.is_exact ? commitsTexts.source : commitsTexts.sourceNear)(link.path)
  return (
    <a
      className={styles.link}
      href={frame.lineno === null ? link.url : `${link.url}#L${frame.lineno}`}
      rel="noreferrer"
      target="_blank"
      title={label}
      aria-label={label}
    >
      <Icon name="code" />
    </a>
  )
}

const startAt = (line: number): CSSProperties & Record<'--start', string> => ({ '--start': String(line - 1) })

function Source({ lines }: { lines: readonly SourceLine[] }) {
  const first = lines[0]?.number ?? 1
  const hit = lines.find((line) => line.hit)?.number ?? first
  return (
    // Focusable, so that keys can scroll long lines.
    <div
      className={classNames(styles.srcw, fitStyles.focusInside)}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      role="region"
      aria-label={issueTexts.sourceAround(hit)}
    >
      <ol className={styles.src} start={first} style={startAt(first)}>
        {lines.map((line) => (
          <li key={line.number} className={line.hit ? styles.hit : undefined}>
            <code>{line.text === '' ? ' ' : <Code source={line.text} />}</code>
          </li>
        ))}
      </ol>
    </div>
  )
}
