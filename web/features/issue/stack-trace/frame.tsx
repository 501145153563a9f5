import type { Frame } from '../../../../server/protocol/event.api.ts'
import type { CSSProperties, ReactNode } from 'react'
import { Code } from '../../../ui/highlight.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { issue as texts } from '../texts.ts'
import { Values } from '../contexts/value.tsx'
import { hasInside, locationOf, nameOf, sourceOf, type SourceLine } from './model.ts'

type FrameProps = { frame: Frame; platform: string; open: boolean }

/** One call: its function, where it is, and below it the source around the line and the local variables. */
export function StackFrame({ frame, platform, open }: FrameProps) {
  const line = <FrameLine frame={frame} platform={platform} expands={hasInside(frame)} />
  const classes = frame.in_app ? 'frame in-app' : 'frame'
  if (!hasInside(frame)) return <div className={`${classes} flat-frame`}>{line}</div>
  const source = sourceOf(frame)
  const vars = Object.entries(frame.vars ?? {})
  return (
    <details className={classes} open={open}>
      <summary>{line}</summary>
      {source === null ? null : <Source lines={source} />}
      {vars.length === 0 ? null : (
        <details className="vars">
          <summary>
            <Icon name="right" className="tw" />
            {texts.locals} <span className="sub">{vars.length}</span>
          </summary>
          <Values values={vars} />
        </details>
      )}
    </details>
  )
}

function FrameLine({ frame, platform, expands }: { frame: Frame; platform: string; expands: boolean }): ReactNode {
  const { path, owner, name } = nameOf(frame, platform)
  const location = locationOf(frame)
  return (
    <>
      {expands ? <Icon name="right" className="tw" /> : <span className="tw" />}
      <span className="fn">
        {path === '' ? null : <span className="pk">{path}</span>}
        {owner}
        <b>{name}</b>
      </span>
      {location === '' ? null : (
        <span className="loc" title={frame.abs_path ?? frame.package ?? undefined}>
          {location}
        </span>
      )}
    </>
  )
}

const startAt = (line: number): CSSProperties & Record<'--start', string> => ({ '--start': String(line - 1) })

function Source({ lines }: { lines: readonly SourceLine[] }) {
  const first = lines[0]?.number ?? 1
  const hit = lines.find((line) => line.hit)?.number ?? first
  return (
    // Long lines scroll inside, which keys must be able to do too.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="srcw" tabIndex={0} role="region" aria-label={texts.sourceAround(hit)}>
      <ol className="src" start={first} style={startAt(first)}>
        {lines.map((line) => (
          <li key={line.number} className={line.hit ? 'hit' : undefined}>
            <code>{line.text === '' ? ' ' : <Code source={line.text} />}</code>
          </li>
        ))}
      </ol>
    </div>
  )
}
