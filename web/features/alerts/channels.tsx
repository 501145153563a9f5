import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ACTION_TYPES, MAX_ACTIONS } from '#shared/alert-rules.ts'
import type { ActionResult, RuleAction } from '../../api/alert-queries.ts'
import { call } from '../../api/call.ts'
import { errorSentence } from '../../api/change.ts'
import { alertTexts } from '../../subjects/alerts/alert-texts.ts'
import { CHANNEL_ICONS, withStatus } from '../../subjects/alerts/look.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { FieldHint } from '../../ui/field.tsx'
import fitStyles from '../../ui/fit.module.css'
import { formatDuration } from '../../ui/format.ts'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { Minor } from '../../ui/text.tsx'
import { TextButton } from '../../ui/text-button.tsx'
import { builderTexts as texts } from './builder-texts.ts'
import { actionBody, actionProblem, newAction, type ActionDraft } from './rule-draft.ts'
import { ChoiceSlot } from './sentence.tsx'
import styles from './channels.module.css'
import typeStyles from '../../ui/type.module.css'

type ChannelsProps = {
  label: string
  projectId: string
  /** The id of a saved rule: its stored URLs and keys can be tested. */
  ruleId: string | null
  actions: readonly ActionDraft[]
  /** As the rule has them. */
  stored: readonly RuleAction[]
  tried: boolean
  /** Why nothing can be changed. */
  why: string | undefined
  onChange: (actions: readonly ActionDraft[]) => void
  onTested: (key: string, isGood: boolean) => void
}

/** Where alerts go: each channel with its target and a test with its real answer. */
export function Channels(props: ChannelsProps) {
  const { label, actions, stored, why, onChange } = props
  const isFull = actions.length >= MAX_ACTIONS
  const replace = (next: ActionDraft) => onChange(actions.map((one) => (one.key === next.key ? next : one)))
  return (
    <>
      {actions.length === 0 ? null : (
        <ul className={classNames(styles.list, fitStyles.divided)} aria-label={label}>
          {actions.map((action) => (
            <Channel
              key={action.key}
              {...props}
              action={action}
              known={stored.find(({ id }) => id === action.id)}
              onReplace={replace}
              onRemove={() => onChange(actions.filter(({ key }) => key !== action.key))}
            />
          ))}
        </ul>
      )}
      {why === undefined ? (
        <p className={styles.add}>
          {ACTION_TYPES.map((type) => (
            <Button
              key={type}
              size="sm"
              look="ghost"
              icon="plus"
              why={isFull ? texts.full : undefined}
              aria-label={texts.add(alertTexts.channels[type])}
              onClick={() => onChange([...actions, newAction(type)])}
            >
              {alertTexts.channels[type]}
            </Button>
          ))}
        </p>
      ) : null}
    </>
  )
}

type ChannelProps = ChannelsProps & {
  action: ActionDraft
  known: RuleAction | undefined
  onReplace: (action: ActionDraft) => void
  onRemove: () => void
}

function Channel({ action, known, projectId, ruleId, tried, why, onReplace, onRemove, onTested }: ChannelProps) {
  const name = alertTexts.channels[action.type]
  const problem = actionProblem(action)
  const isWrong = problem !== null && (tried || action.target !== '')
  const test = useMutation({
    mutationFn: () =>
      call('POST /api/alerts/test-action', {
        body: { projectId, ...(ruleId === null ? {} : { rule_id: ruleId }), action: actionBody(action) },
      }),
    onSuccess: ({ state }) => onTested(action.key, state !== 'failed'),
    onError: () => onTested(action.key, false),
  })
  const change = (part: Partial<ActionDraft>) => {
    test.reset()
    onTested(action.key, true)
    onReplace({ ...action, ...part })
  }
  return (
    <li className={styles.channel}>
      <Icon name={CHANNEL_ICONS[action.type]} className={typeStyles.quiet} />
      <span className={styles.name}>{name}</span>
      <div className={classNames(styles.target, fitStyles.shrinks)}>
        <Target action={action} known={known} isWrong={isWrong} isFixed={why !== undefined} onChange={change} />
        {isWrong ? (
          <FieldHint role="alert" bad>
            <Icon name="warn" />
            {texts.problems[problem]}
          </FieldHint>
        ) : null}
      </div>
      <TestState
        isRunning={test.isPending}
        result={test.data}
        error={test.error}
        hasFailed={known?.needs_attention === true && action.target === ''}
      />
      <Button
        size="sm"
        busy={test.isPending}
        why={why ?? (problem !== null || projectId === '' ? texts.testIncomplete : undefined)}
        aria-label={texts.testOf(name)}
        onClick={() => test.mutate()}
      >
        {texts.test}
      </Button>
      {why === undefined ? (
        <IconButton size="sm" look="ghost" icon="x" label={texts.remove(name)} onClick={onRemove} />
      ) : null}
    </li>
  )
}

type TargetProps = {
  action: ActionDraft
  known: RuleAction | undefined
  isWrong: boolean
  isFixed: boolean
  onChange: (part: Partial<ActionDraft>) => void
}

function Target({ action, known, isWrong, isFixed, onChange }: TargetProps) {
  const [isChanging, setChanging] = useState(action.masked === null)
  if (action.type === 'email') return <Recipients action={action} isWrong={isWrong} onChange={onChange} />
  if (!isChanging && action.masked !== null) {
    return (
      <p className={styles.masked}>
        <span className={typeStyles.mono}>{action.masked}</span>
        {known?.secret_prefix === undefined ? null : <Minor>{texts.secretKept(known.secret_prefix)}</Minor>}
        {isFixed ? null : (
          <TextButton
            aria-label={texts.changeOf(alertTexts.channels[action.type])}
            className={typeStyles.link}
            onClick={() => setChanging(true)}
          >
            {texts.change}
          </TextButton>
        )}
      </p>
    )
  }
  return (
    <div className={fitStyles.wrapsCentred}>
      <input
        className={classNames(styles.field, fitStyles.slot)}
        aria-label={texts.targets[action.type]}
        aria-invalid={isWrong && action.secret === '' ? true : undefined}
        placeholder={action.masked ?? texts.examples[action.type]}
        inputMode={action.type === 'pager' || action.type === 'telegram' ? undefined : 'url'}
        autoComplete="off"
        spellCheck={false}
        maxLength={2000}
        value={action.target}
        onChange={(event) => onChange({ target: event.target.value })}
      />
      {action.type === 'webhook' || action.type === 'telegram' || action.type === 'ntfy' ? (
        <input
          className={classNames(styles.field, fitStyles.slot)}
          aria-label={texts.secrets[action.type].label}
          placeholder={action.masked === null ? texts.secrets[action.type].example : texts.secrets[action.type].kept}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          value={action.secret}
          onChange={(event) => onChange({ secret: event.target.value })}
        />
      ) : null}
      {action.masked === null ? null : (
        <TextButton
          className={typeStyles.link}
          onClick={() => {
            setChanging(false)
            onChange({ target: '', secret: '' })
          }}
        >
          {texts.keep}
        </TextButton>
      )}
    </div>
  )
}

function Recipients({ action, isWrong, onChange }: Omit<TargetProps, 'known' | 'isFixed'>) {
  return (
    <div className={fitStyles.wrapsCentred}>
      <ChoiceSlot
        label={texts.targets.email}
        value={action.to}
        options={(['team', 'assignee', 'list'] as const).map((value) => ({ value, label: texts.recipients[value] }))}
        onChange={(to) => onChange({ to })}
      />
      {action.to === 'list' ? (
        <input
          className={classNames(styles.field, fitStyles.slot)}
          aria-label={texts.addresses}
          aria-invalid={isWrong ? true : undefined}
          placeholder={texts.examples.email}
          inputMode="email"
          autoComplete="off"
          spellCheck={false}
          value={action.addresses}
          onChange={(event) => onChange({ addresses: event.target.value })}
        />
      ) : null}
    </div>
  )
}

type TestStateProps = {
  isRunning: boolean
  result: ActionResult | undefined
  error: Error | null
  hasFailed: boolean
}

/** The result of the test, in the words of the receiver. */
function TestState({ isRunning, result, error, hasFailed }: TestStateProps) {
  const look = isRunning
    ? { tone: typeStyles.quiet, icon: 'clock' as const, text: texts.testing }
    : error !== null
      ? { tone: typeStyles.red, icon: 'warn' as const, text: `${texts.notTested} ${errorSentence(error)}` }
      : result === undefined
        ? hasFailed
          ? { tone: typeStyles.red, icon: 'warn' as const, text: texts.lastFailed }
          : null
        : answerLook(result)
  return (
    <span className={classNames(styles.state, look?.tone)} role="status">
      {look === null ? null : (
        <>
          <Icon name={look.icon} />
          <span>{look.text}</span>
        </>
      )}
    </span>
  )
}

function answerLook({ state, status, error, duration_ms: duration }: ActionResult): {
  tone: string | undefined
  icon: IconName
  text: string
} {
  if (state === 'pending') return { tone: typeStyles.quiet, icon: 'clock', text: texts.testPending }
  const time = duration === null ? null : formatDuration(duration)
  if (state === 'delivered') {
    const { answer, accepted, acceptedNow } = alertTexts.deliveries
    const text = status !== null && time !== null ? answer(status, time) : time === null ? acceptedNow : accepted(time)
    return { tone: typeStyles.green, icon: 'check', text }
  }
  return { tone: typeStyles.red, icon: 'warn', text: withStatus(status, error ?? texts.testFailed) }
}
