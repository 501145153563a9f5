import { useQuery } from '@tanstack/react-query'
import type { TriggerType } from '#shared/alert-rules.ts'
import type { NewRuleBody } from '../../api/alert-queries.ts'
import { call } from '../../api/call.ts'
import { useChange } from '../../api/change.ts'
import { projectsQuery } from '../../api/queries.ts'
import { TRIGGER_ICONS } from '../../subjects/alerts/look.ts'
import { useCan } from '../../app/can.ts'
import { useScope } from '../../app/use-scope.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Minor } from '../../ui/text.tsx'
import { alertsTexts } from './texts.ts'
import styles from './suggestions.module.css'
import typeStyles from '../../ui/type.module.css'

const texts = alertsTexts.suggested

type Suggestion = {
  key: keyof typeof texts
  trigger: TriggerType
  conditions: NonNullable<NewRuleBody['conditions']>
}

const SUGGESTIONS: readonly Suggestion[] = [
  { key: 'critical', trigger: 'new_issue', conditions: { severity: 'critical' } },
  { key: 'regressions', trigger: 'issue_regression', conditions: { severity: 'high' } },
  { key: 'spikes', trigger: 'issue_spike', conditions: {} },
]

type SuggestionsProps = {
  isEmpty: boolean
  /** Triggers of existing rules; they are not suggested again. */
  triggers: readonly TriggerType[]
}

/** In place of an empty list: three rules to begin with, each added by one press. */
export function Suggestions({ isEmpty, triggers }: SuggestionsProps) {
  const may = useCan('alerts.write')
  const { projectId } = useScope()
  const projects = useQuery(projectsQuery)
  const project = projects.data?.items.find(({ id }) => projectId === null || id === projectId)
  return (
    <>
      {isEmpty ? (
        <EmptyState kind="setup" title={alertsTexts.noRules}>
          {may.allowed ? alertsTexts.noRulesText : alertsTexts.noRulesRead}
        </EmptyState>
      ) : null}
      {may.allowed ? (
        <ul aria-label={alertsTexts.suggestions}>
          {SUGGESTIONS.filter(({ trigger }) => !triggers.includes(trigger)).map((suggestion) => (
            <SuggestionRow key={suggestion.key} suggestion={suggestion} project={project} />
          ))}
        </ul>
      ) : null}
    </>
  )
}

type SuggestionRowProps = { suggestion: Suggestion; project: { id: string; name: string } | undefined }

function SuggestionRow({ suggestion, project }: SuggestionRowProps) {
  const { name, text } = texts[suggestion.key]
  const add = useChange({
    send: (toProject: string) =>
      call('POST /api/alerts', {
        body: {
          projectId: toProject,
          name,
          trigger_type: suggestion.trigger,
          conditions: suggestion.conditions,
          actions: [{ type: 'email', to: 'team' }],
        },
      }),
    same: () => suggestion.key,
    touches: () => [['alerts', 'rules']],
    said: () => alertsTexts.added,
    undo: (_input, rule) => call('DELETE /api/alerts/:ruleId', { params: { ruleId: rule.id } }),
    failed: alertsTexts.notAdded,
  })
  return (
    <li className={classNames(styles.row, typeStyles.mediumNames)}>
      <Icon name={TRIGGER_ICONS[suggestion.trigger]} className={typeStyles.quiet} />
      <div>
        <b>{name}</b>
        <Minor as="p">
          {text} {project === undefined ? null : alertsTexts.suggestionFor(project.name)}
        </Minor>
      </div>
      <Button
        size="sm"
        icon="plus"
        busy={add.isPending}
        why={project === undefined ? alertsTexts.needsProject : undefined}
        aria-label={alertsTexts.addSuggestionOf(name)}
        onClick={() => {
          if (project !== undefined) add.mutate(project.id)
        }}
      >
        {alertsTexts.addSuggestion}
      </Button>
    </li>
  )
}
