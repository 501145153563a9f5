import { useInfiniteQuery, useQuery, type InfiniteData } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { alertRulesQuery, type AlertRule } from '../../api/alert-queries.ts'
import { useState } from 'react'
import { call, type AnswerOf } from '../../api/call.ts'
import { useChange } from '../../api/change.ts'
import { projectsQuery } from '../../api/queries.ts'
import { paths } from '../../address/paths.ts'
import { alertTexts } from '../../subjects/alerts/alert-texts.ts'
import { CHANNEL_ICONS, TRIGGER_ICONS } from '../../subjects/alerts/look.ts'
import { useCan } from '../../app/can.ts'
import { MoreFoot } from '../../frames/more-button.tsx'
import { PageQuery } from '../../frames/page-query.tsx'
import { useScope } from '../../app/use-scope.ts'
import { Card } from '../../ui/card.tsx'
import choiceStyles from '../../ui/choice.module.css'
import { classNames } from '../../ui/class-names.ts'
import fitStyles from '../../ui/fit.module.css'
import { formatSince } from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import narrowStyles from '../../ui/narrow.module.css'
import { useNow } from '../../ui/now.ts'
import { Switch } from '../../ui/switch.tsx'
import { Minor } from '../../ui/text.tsx'
import { ruleSummary } from './rule-summary.ts'
import { Suggestions } from './suggestions.tsx'
import { alertsTexts as texts } from './texts.ts'
import styles from './lists.module.css'
import typeStyles from '../../ui/type.module.css'

/** The rules, newest first. */
export function RuleList() {
  const { projectId, project } = useScope()
  const { ruleId } = useParams({ strict: false })
  const rules = useInfiniteQuery(alertRulesQuery(projectId))
  const projects = useQuery(projectsQuery)
  const items = rules.data?.pages.flatMap((page) => page.items) ?? []
  // After the first was added, the others stay on offer.
  const [isOffering, setOffering] = useState(false)
  if (!isOffering && rules.data !== undefined && items.length === 0) setOffering(true)
  const isOfSeveral = projectId === null && (projects.data?.items.length ?? 0) > 1
  return (
    <Card
      className={fitStyles.clips}
      title={texts.rules}
      header={<Minor>{project === null ? texts.allProjects : project.name}</Minor>}
    >
      <PageQuery query={rules} what={texts.rulesWhat} rows={4}>
        {() => (
          <>
            <ul>
              {items.map((rule) => (
                <RuleRow key={rule.id} rule={rule} isCurrent={rule.id === ruleId} hasProject={isOfSeveral} />
              ))}
            </ul>
            {isOffering ? (
              <Suggestions isEmpty={items.length === 0} triggers={items.map((rule) => rule.trigger_type)} />
            ) : null}
          </>
        )}
      </PageQuery>
      <MoreFoot list={rules}>{texts.showMore}</MoreFoot>
    </Card>
  )
}

type RuleRowProps = { rule: AlertRule; isCurrent: boolean; hasProject: boolean }

function RuleRow({ rule, isCurrent, hasProject }: RuleRowProps) {
  const { projectId } = useScope()
  const may = useCan('alerts.write')
  const enable = useEnable(rule.id)
  const now = useNow('half-minute')
  const channels = [...new Set(rule.actions.map(({ type }) => type))]
  const summary = ruleSummary(rule)
  const since = rule.last_fired_at === null ? null : formatSince(rule.last_fired_at, now)
  return (
    <li
      className={classNames(styles.rule, choiceStyles.row, choiceStyles.selectable)}
      data-selected={isCurrent ? '' : undefined}
    >
      <Icon name={TRIGGER_ICONS[rule.trigger_type]} className={typeStyles.quiet} />
      <div className={classNames(styles.body, fitStyles.shrinks)}>
        <Link
          className={classNames(styles.title, choiceStyles.underlines)}
          {...paths.alertRule(rule.id, projectId === null ? {} : { project: projectId })}
          aria-current={isCurrent ? 'true' : undefined}
        >
          {rule.name}
        </Link>
        <Minor as="p" className={fitStyles.ellipsis}>
          {hasProject ? <span className={narrowStyles.hiddenAt560}>{rule.project.name}: </span> : null}
          {summary}
        </Minor>
      </div>
      {channels.length === 0 ? (
        <Minor>{texts.noChannel}</Minor>
      ) : (
        <span
          className={styles.channels}
          role="img"
          aria-label={texts.sendsTo(channels.map((type) => alertTexts.channels[type]).join(', '))}
          title={texts.sendsTo(channels.map((type) => alertTexts.channels[type]).join(', '))}
        >
          {channels.map((type) => (
            <Icon key={type} name={CHANNEL_ICONS[type]} />
          ))}
        </span>
      )}
      <Minor
        className={classNames(styles.last, fitStyles.textEnd, fitStyles.nowrap)}
        title={since === null ? texts.neverFired : texts.lastFired(since)}
      >
        {since ?? texts.never}
      </Minor>
      <Switch
        label={texts.enabled(rule.name)}
        checked={rule.enabled}
        why={may.why}
        onChange={(isOn) => enable.mutate(isOn)}
      />
    </li>
  )
}

type RulePages = InfiniteData<AnswerOf<'GET /api/alerts'>, string | null>

/** Switches a rule on and off; the switch moves at once. */
function useEnable(ruleId: string) {
  const patch = (enabled: boolean) => call('PATCH /api/alerts/:ruleId', { params: { ruleId }, body: { enabled } })
  return useChange({
    send: patch,
    touches: () => [
      ['alerts', 'rules'],
      ['alerts', 'rule', ruleId],
    ],
    guess: (client, enabled) =>
      client.setQueriesData<RulePages>({ queryKey: ['alerts', 'rules'] }, (data) =>
        data === undefined
          ? data
          : {
              ...data,
              pages: data.pages.map((page) => ({
                ...page,
                items: page.items.map((one) => (one.id === ruleId ? { ...one, enabled } : one)),
              })),
            },
      ),
    said: (_rule, enabled) => (enabled ? texts.switchedOn : texts.switchedOff),
    undo: (enabled) => patch(!enabled),
    failed: texts.notSwitched,
  })
}
