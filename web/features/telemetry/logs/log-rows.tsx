import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { LogLine } from '../../../api/log-queries.ts'
import { traceQuery } from '../../../api/trace-queries.ts'
import { paths } from '../../../address/paths.ts'
import { useKeys } from '../../../app/keys.ts'
import { focusRow, rowKeys } from '../../../app/row-keys.ts'
import { Button, buttonLook, IconButton } from '../../../ui/button.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { CopyButton, copyAndSay } from '../../../ui/copy-button.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatExact } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import narrowStyles from '../../../ui/narrow.module.css'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { LevelMark } from './level-mark.tsx'
import { formatLineTime, listFacts, rowText, showControls } from './model.ts'
import { logsTexts as texts } from './texts.ts'
import styles from './log-rows.module.css'

type LogRowsProps = {
  lines: readonly LogLine[]
  /** The line that the list is about. */
  marked?: string | undefined
  onPair: (side: 'with' | 'without', name: string, value: string) => void
  onAround: (line: LogLine) => void
}

/** Lines of logs, newest first; one of them can be open. */
export function LogRows({ lines, marked, onPair, onAround }: LogRowsProps) {
  const navigate = useNavigate()
  const [openId, setOpenId] = useState<string | null>(null)
  const open = lines.find(({ id }) => id === openId)
  const issue = useIssueOf(open)
  useKeys([
    ...rowKeys(texts, (by) => focusRow('[data-line]', by)),
    ...(open === undefined
      ? []
      : [
          { keys: 'a', label: texts.aroundKey, group: 'Page' as const, run: () => onAround(open) },
          {
            keys: 'y',
            label: texts.copyKey,
            group: 'Page' as const,
            run: () => void copyAndSay(asJson(open), texts.copied),
          },
          ...(open.trace_id === null
            ? []
            : [
                {
                  keys: 't',
                  label: texts.openTraceKey,
                  group: 'Page' as const,
                  run: () => void navigate(paths.trace(open.trace_id ?? '')),
                },
              ]),
          ...(issue === undefined
            ? []
            : [
                {
                  keys: 'i',
                  label: texts.openIssueKey,
                  group: 'Page' as const,
                  run: () => void navigate(paths.issue(issue.issue_id)),
                },
              ]),
        ]),
  ])
  return (
    <ol className={classNames(styles.list, fitStyles.ruled)} aria-label={texts.list}>
      {lines.map((line) => (
        <li key={line.id} data-level={line.level} data-open={line.id === openId ? '' : undefined}>
          <div className={classNames(styles.row, choiceStyles.row)} data-marked={line.id === marked ? '' : undefined}>
            <button
              type="button"
              className={classNames(styles.press, fitStyles.focusInside)}
              data-line
              aria-expanded={line.id === openId}
              onClick={() => setOpenId(line.id === openId ? null : line.id)}
            >
              <time
                className={classNames(styles.time, typeStyles.soft)}
                dateTime={line.occurred_at}
                title={formatExact(line.occurred_at)}
              >
                {formatLineTime(line.occurred_at)}
              </time>
              <LevelMark level={line.level} />
              <bdi className={styles.message}>{rowText(line.body)}</bdi>
            </button>
            {line.trace_id === null ? null : (
              <Link className={classNames(styles.trace, choiceStyles.lightens)} {...paths.trace(line.trace_id)}>
                {texts.trace}
              </Link>
            )}
          </div>
          {line.id === openId ? <OpenLine line={line} issue={issue} onPair={onPair} onAround={onAround} /> : null}
        </li>
      ))}
    </ol>
  )
}

const asJson = (line: LogLine): string => JSON.stringify(line, null, 2)

/** The first issue of the trace of a line; undefined where the trace is not stored. */
function useIssueOf(line: LogLine | undefined) {
  const trace = useQuery({
    ...traceQuery(line?.trace_id ?? ''),
    enabled: line !== undefined && line.trace_id !== null,
    retry: false,
    meta: { quiet: true },
  })
  return line === undefined || line.trace_id === null ? undefined : trace.data?.errors[0]
}

/** Attributes that are shown at once. */
const MAX_FACTS = 24

type OpenLineProps = Pick<LogRowsProps, 'onPair' | 'onAround'> & {
  line: LogLine
  issue: { issue_id: string; short_id: string } | undefined
}

function OpenLine({ line, issue, onPair, onAround }: OpenLineProps) {
  const [isWhole, setWhole] = useState(false)
  const facts = listFacts(line)
  const shown = isWhole ? facts : facts.slice(0, MAX_FACTS)
  return (
    <div className={styles.detail}>
      <pre
        className={classNames(styles.body, typeStyles.mono)}
        dir="auto"
        role="region"
        aria-label={texts.message}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
      >
        {showControls(line.body)}
      </pre>
      <dl className={classNames(styles.facts, narrowStyles.oneColumnAt600)} aria-label={texts.facts}>
        {shown.map(({ name, text, isFilter }) => (
          <div key={name}>
            <dt className={classNames(fitStyles.ellipsis, typeStyles.soft)} title={name}>
              {name}
            </dt>
            <dd>
              <bdi className={classNames(fitStyles.ellipsis, fitStyles.fills)} title={text}>
                {rowText(text)}
              </bdi>
              {isFilter ? (
                <>
                  <IconButton
                    icon="plus"
                    look="ghost"
                    size="sm"
                    label={texts.only(name, text)}
                    onClick={() => onPair('with', name, text)}
                  />
                  <IconButton
                    icon="minus"
                    look="ghost"
                    size="sm"
                    label={texts.without(name, text)}
                    onClick={() => onPair('without', name, text)}
                  />
                </>
              ) : null}
            </dd>
          </div>
        ))}
      </dl>
      {line.notes.map(({ name, reason }) => (
        <Minor as="p" key={`${name} ${reason}`}>
          {texts.noteOf(name, reason)}
        </Minor>
      ))}
      <div className={fitStyles.wraps}>
        {line.trace_id === null ? null : (
          <Link {...paths.trace(line.trace_id)} {...buttonLook({ size: 'sm' })}>
            <Icon name="sort" />
            <span>{texts.openTrace(line.trace_id)}</span>
          </Link>
        )}
        {issue === undefined ? null : (
          <Link {...paths.issue(issue.issue_id)} {...buttonLook({ size: 'sm' })}>
            <Icon name="issues" />
            <span>{texts.inThisTrace(issue.short_id)}</span>
          </Link>
        )}
        <Button size="sm" icon="menu" keys="a" onClick={() => onAround(line)}>
          {texts.around}
        </Button>
        <CopyButton size="sm" look="ghost" text={asJson(line)} said={texts.copied} keys="y">
          {texts.copyJson}
        </CopyButton>
        {shown.length < facts.length ? (
          <Button size="sm" look="ghost" onClick={() => setWhole(true)}>
            {texts.moreFacts(facts.length - shown.length)}
          </Button>
        ) : null}
      </div>
    </div>
  )
}
