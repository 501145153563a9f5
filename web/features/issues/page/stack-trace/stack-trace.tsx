import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { paths } from '../../../../address/paths.ts'
import type { Event, Exception, Stacktrace } from '../../../../../server/events/protocol/event.api.ts'
import { useKeys } from '../../../../app/keys.ts'
import { Button } from '../../../../ui/button.tsx'
import { Card, CardFooter } from '../../../../ui/card.tsx'
import { copyAndSay } from '../../../../ui/copy-button.tsx'
import { Icon } from '../../../../ui/icon.tsx'
import { Menu } from '../../../../ui/menu.tsx'
import { Segmented } from '../../../../ui/segmented.tsx'
import { Badge } from '../../../../ui/badge.tsx'
import choiceStyles from '../../../../ui/choice.module.css'
import { classNames } from '../../../../ui/class-names.ts'
import fitStyles from '../../../../ui/fit.module.css'
import narrowStyles from '../../../../ui/narrow.module.css'
import { Minor } from '../../../../ui/text.tsx'
import { issueTexts } from '../texts.ts'
import { LongText } from '../contexts/value.tsx'
import { StackFrame, type SourceLinks } from './frame.tsx'
import {
  countFrames,
  countReadable,
  foldFrames,
  hasAppFrames,
  eventStacks,
  exceptionType,
  type FrameMode,
  type Stack,
} from './model.ts'
import { type Frames, writeStack } from './raw.ts'
import styles from './stack-trace.module.css'
import issueStyles from '../issue.module.css'
import typeStyles from '../../../../ui/type.module.css'
import { Spacer } from '../../../../ui/stack.tsx'

type View = FrameMode | 'raw'

const MAX_COLLAPSED = 1200

/** The stack trace: the chain of errors of the crashed thread, newest first, with in-app frames expanded. */
type TraceProps = { event: Event; projectId: string; links: SourceLinks }

export function StackTrace({ event, projectId, links }: TraceProps) {
  const stacks = useMemo(() => eventStacks(event), [event])
  const [chosen, setChosen] = useState('crash')
  const [picked, setPicked] = useState<View | null>(null)
  const stack = stacks.find((one) => one.key === chosen) ?? stacks[0]
  const inApp = stack !== undefined && tracesOf(stack).some(hasAppFrames)
  // Without in-app frames nothing is collapsed.
  const view: View = picked === 'app' && !inApp ? 'all' : (picked ?? (inApp ? 'app' : 'all'))
  const text = (frames: Frames) => (stack === undefined ? '' : writeStack(stack, event.platform, frames))
  const copy = () => void copyAndSay(text(view === 'raw' ? 'sent' : 'readable'), issueTexts.traceCopied)
  useKeys(stack === undefined ? [] : [{ keys: 'y', label: issueTexts.keys.copyTrace, group: 'Issue', run: copy }])
  if (stack === undefined) return null

  const options = [
    ...(inApp ? [{ value: 'app' as const, label: issueTexts.inApp }] : []),
    { value: 'all' as const, label: issueTexts.all(countFrames(stack)) },
    { value: 'raw' as const, label: issueTexts.raw },
  ]
  return (
    <Card
      id="trace"
      title={issueTexts.trace}
      titleId="h-trace"
      header={
        <>
          <ThreadChoice stacks={stacks} stack={stack} onChoose={setChosen} />
          <Spacer />
          <Segmented size="sm" label={issueTexts.frames} value={view} options={options} onChange={setPicked} />
          <Button look="ghost" size="sm" icon="copy" keys="y" onClick={copy}>
            {issueTexts.copy}
          </Button>
        </>
      }
    >
      {view === 'raw' ? (
        <pre
          className={classNames(fitStyles.fileText, fitStyles.focusInside)}
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
          role="region"
          aria-label={issueTexts.rawLabel}
        >
          {text('sent')}
        </pre>
      ) : (
        <Chain key={`${event.event_id} ${stack.key}`} stack={stack} mode={view} event={event} links={links} />
      )}
      <TraceFoot stack={stack} projectId={projectId} />
    </Card>
  )
}

const tracesOf = (stack: Stack): Stacktrace[] =>
  [...stack.exceptions.map((one) => one.stacktrace), stack.stacktrace].filter((trace) => trace !== null)

const threadName = (stack: Stack): string => stack.thread?.name ?? stack.thread?.id ?? issueTexts.unnamedThread

/** The shown thread; a menu if there are several. */
function ThreadChoice({
  stacks,
  stack,
  onChoose,
}: {
  stacks: readonly Stack[]
  stack: Stack
  onChoose: (key: string) => void
}) {
  if (stack.thread === null && stacks.length < 2) return null
  const crashed = stack.key === 'crash' && stack.thread?.crashed === true
  if (stacks.length < 2) {
    return (
      <Minor>
        {issueTexts.thread} <b>{threadName(stack)}</b>
        {crashed ? `, ${issueTexts.crashed}` : ''}
      </Minor>
    )
  }
  return (
    <Menu
      label={issueTexts.threads}
      entries={stacks.map((one, index) => ({
        label: one.thread === null ? issueTexts.crashThread : issueTexts.threadName(threadLabel(one, index, stacks)),
        note:
          one.key === 'crash' && one.thread?.crashed === true ? issueTexts.crashed : (one.thread?.state ?? undefined),
        checked: one.key === stack.key,
        onSelect: () => onChoose(one.key),
      }))}
      trigger={
        <Button look="ghost" size="sm" caret>
          {stack.thread === null ? issueTexts.crashThread : issueTexts.threadName(threadName(stack))}
          {crashed ? `, ${issueTexts.crashed}` : ''}
        </Button>
      }
    />
  )
}

/** The name of a thread, with its id if several share the name. */
function threadLabel(stack: Stack, index: number, stacks: readonly Stack[]): string {
  const name = threadName(stack)
  const twins = stacks.filter((other) => threadName(other) === name).length > 1
  return twins ? `${name} · ${stack.thread?.id ?? index + 1}` : name
}

type ChainProps = { stack: Stack; mode: FrameMode; event: Event; links: SourceLinks }

function Chain({ stack, mode, event, links }: ChainProps) {
  if (stack.exceptions.length === 0)
    return stack.stacktrace === null ? null : (
      <Frames trace={stack.stacktrace} mode={mode} platform={event.platform} links={links} />
    )
  return stack.exceptions.map((one, index) => (
    // The chain of an event never changes.
    <div key={index} className={index === 0 ? undefined : styles.cause}>
      <ExceptionLine exception={one.exception} joint={one.joint} platform={event.platform} />
      {one.stacktrace === null ? null : (
        <Frames trace={one.stacktrace} mode={mode} platform={event.platform} links={links} />
      )}
    </div>
  ))
}

type ExceptionLineProps = { exception: Exception; joint: Stack['exceptions'][number]['joint']; platform: string }

function ExceptionLine({ exception, joint, platform }: ExceptionLineProps) {
  return (
    <p className={classNames(styles.exc, fitStyles.inset10, typeStyles.headNames, fitStyles.breaks)}>
      {joint === 'first' ? null : (
        <span className={typeStyles.quiet}>{joint === 'cause' ? issueTexts.causedBy : issueTexts.groupedError} </span>
      )}
      <b>{exceptionType(exception, platform)}</b>{' '}
      <span className={styles.excV}>
        <LongText text={exception.value ?? ''} maxLength={MAX_COLLAPSED} />
      </span>{' '}
      {joint === 'first' && exception.mechanism?.handled === false ? (
        <Badge tone="red">{issueTexts.unhandled}</Badge>
      ) : null}
    </p>
  )
}

type FramesProps = { trace: Stacktrace; mode: FrameMode; platform: string; links: SourceLinks }

function Frames({ trace, mode, platform, links }: FramesProps) {
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set())
  const rows = foldFrames(trace, mode, unfolded)
  if (rows.length === 0)
    return (
      <Minor as="p" className={classNames(styles.exc, fitStyles.inset10, typeStyles.headNames, fitStyles.breaks)}>
        {issueTexts.noFrames}
      </Minor>
    )
  return (
    <div>
      {rows.map((row) =>
        row.kind === 'fold' ? (
          <button
            key={`fold ${row.key}`}
            type="button"
            className={classNames(issueStyles.fold, choiceStyles.lightens, fitStyles.icons14)}
            onClick={() => setUnfolded(new Set([...unfolded, row.key]))}
          >
            <Icon name="more" />
            <span className={fitStyles.nowrap}>{issueTexts.frameworkFrames(row.frames.length)}</span>
            <span className={classNames(typeStyles.mono, narrowStyles.hiddenAt600, fitStyles.ellipsis)}>
              {row.origins}
            </span>
          </button>
        ) : (
          <StackFrame key={`${mode} ${row.key}`} frame={row.frame} platform={platform} open={row.open} links={links} />
        ),
      )}
    </div>
  )
}

function TraceFoot({ stack, projectId }: { stack: Stack; projectId: string }) {
  const { readable, total } = countReadable(stack)
  const whole = readable === total
  return (
    <CardFooter
      note={
        total === 0 ? null : (
          <>
            <Icon name={whole ? 'check' : 'warn'} className={whole ? typeStyles.green : typeStyles.amber} />
            {issueTexts.readable(readable, total)}
          </>
        )
      }
    >
      {tracesOf(stack).some(({ frames }) => frames.some(({ unreadable }) => unreadable !== undefined)) ? (
        <Link {...paths.symbols({ project: projectId })}>{issueTexts.unreadable.upload}</Link>
      ) : null}
      <a href="#grouping">{issueTexts.whyGrouped}</a>
    </CardFooter>
  )
}

/** The message of an event without a stack. */
export function MessageCard({ event }: { event: Event }) {
  const text = event.message ?? event.error_value ?? event.title
  return (
    <Card
      title={issueTexts.message}
      titleId="h-trace"
      header={
        event.logger === null ? null : (
          <Minor>
            {issueTexts.logger} <span className={typeStyles.mono}>{event.logger}</span>
          </Minor>
        )
      }
    >
      <p className={styles.msgtext}>
        <LongText text={text} maxLength={MAX_COLLAPSED} />
      </p>
      {event.message_template === null || event.message_template === event.message ? null : (
        <Minor as="p" className={`${styles.msgtext} ${typeStyles.small}`}>
          {issueTexts.template}{' '}
          <span className={typeStyles.mono}>
            <LongText text={event.message_template} maxLength={MAX_COLLAPSED} />
          </span>
        </Minor>
      )}
      <CardFooter>
        <a href="#grouping">{issueTexts.whyGrouped}</a>
      </CardFooter>
    </Card>
  )
}
