import { useMutation } from '@tanstack/react-query'
import { call } from '../../../../api/call.ts'
import type { ProjectSettings } from '../../../../api/queries.ts'
import { Discards } from './discards.tsx'
import { GroupingPreview } from './preview.tsx'
import { GroupingVersion } from './version.tsx'
import {
  blankFingerprint,
  blankStack,
  draftFingerprint,
  draftStack,
  FingerprintRow,
  groupingRuleProblems,
  toGroupingRules,
  StackRow,
  type DraftFingerprint,
  type DraftStack,
} from './rule-rows.tsx'
import { ProjectPart } from '../project-part.tsx'
import { SettingsForm, useSettingsDraft } from '../form.tsx'
import { Button } from '../../../../ui/button.tsx'
import { Card } from '../../../../ui/card.tsx'
import { FieldHint } from '../../../../ui/field.tsx'
import { Spacer } from '../../../../ui/stack.tsx'
import { Minor } from '../../../../ui/text.tsx'
import { groupingTexts } from './texts.ts'
import settingsStyles from '../../../../frames/settings.module.css'
import fitStyles from '../../../../ui/fit.module.css'
import narrowStyles from '../../../../ui/narrow.module.css'
import styles from './grouping-page.module.css'

export const ProjectGroupingPage = () => (
  <ProjectPart title={groupingTexts.title} lead={groupingTexts.lead} heightPx={420}>
    {(project, why) => (
      <>
        <RulesForm key={project.id} project={project} why={why} />
        <GroupingVersion projectId={project.id} why={why} />
        <Discards projectId={project.id} />
      </>
    )}
  </ProjectPart>
)

type Draft = { fingerprint: readonly DraftFingerprint[]; stack: readonly DraftStack[] }

const draftOf = ({ grouping_rules: rules }: ProjectSettings): Draft => ({
  fingerprint: rules.fingerprint.map(draftFingerprint),
  stack: rules.stack.map(draftStack),
})

const patchOf = ({ fingerprint, stack }: Draft) => ({ grouping_rules: toGroupingRules(fingerprint, stack) })

const isWhole = ({ fingerprint, stack }: Draft): boolean =>
  [...fingerprint, ...stack].every((rule) => Object.keys(groupingRuleProblems(rule)).length === 0)

function RulesForm({ project, why }: { project: ProjectSettings; why: string | undefined }) {
  const preview = useMutation({
    mutationFn: (sent: Draft) =>
      call('POST /api/projects/:projectId/grouping/preview', {
        params: { projectId: project.id },
        body: patchOf(sent),
      }),
  })
  const { draft, set, tried, check, error, form } = useSettingsDraft(project, {
    draftOf,
    patchOf,
    isWhole,
    said: groupingTexts.saved,
    why,
    onChange: () => preview.reset(),
  })
  return (
    <SettingsForm name={groupingTexts.title} error={error} failed={groupingTexts.failed} form={form}>
      <Card
        title={groupingTexts.fingerprintRules}
        header={
          <>
            <Minor className={narrowStyles.hiddenAt600}>{groupingTexts.fingerprintMore}</Minor>
            <Spacer />
            <Button
              size="sm"
              icon="eye"
              busy={preview.isPending}
              why={why}
              onClick={() => {
                if (check()) preview.mutate(draft)
              }}
            >
              {groupingTexts.tryOut}
            </Button>
          </>
        }
      >
        {draft.fingerprint.length === 0 ? (
          <Minor as="p" className={fitStyles.inset12}>
            {groupingTexts.noFingerprint}
          </Minor>
        ) : null}
        {draft.fingerprint.map((rule, index) => (
          <FingerprintRow
            key={rule.key}
            number={index + 1}
            rule={rule}
            why={why}
            asked={tried}
            hits={preview.data?.fingerprint_rules[index]?.events}
            onChange={(next) => set({ fingerprint: replaced(draft.fingerprint, next) })}
            onUp={index === 0 ? undefined : () => set({ fingerprint: raised(draft.fingerprint, index) })}
            onRemove={() => set({ fingerprint: draft.fingerprint.filter((one) => one.key !== rule.key) })}
          />
        ))}
        <div className={styles.add}>
          <Button
            size="sm"
            icon="plus"
            why={why}
            onClick={() => set({ fingerprint: [...draft.fingerprint, blankFingerprint()] })}
          >
            {groupingTexts.add}
          </Button>
          {draft.fingerprint.length === 0 ? null : (
            <FieldHint>
              {groupingTexts.matchHint}. {groupingTexts.fingerprintHint}.
            </FieldHint>
          )}
        </div>
      </Card>
      {preview.data === undefined && preview.error === null ? null : (
        <Card title={groupingTexts.tryTitle}>
          <div className={settingsStyles.body}>
            <GroupingPreview preview={preview.data} error={preview.error} />
          </div>
        </Card>
      )}
      <Card
        title={groupingTexts.stackRules}
        header={<Minor className={narrowStyles.hiddenAt600}>{groupingTexts.stackMore}</Minor>}
      >
        {draft.stack.length === 0 ? (
          <Minor as="p" className={fitStyles.inset12}>
            {groupingTexts.noStack}
          </Minor>
        ) : null}
        {draft.stack.map((rule, index) => (
          <StackRow
            key={rule.key}
            number={index + 1}
            rule={rule}
            why={why}
            asked={tried}
            hits={preview.data?.stack_rules[index]?.events}
            onChange={(next) => set({ stack: replaced(draft.stack, next) })}
            onUp={index === 0 ? undefined : () => set({ stack: raised(draft.stack, index) })}
            onRemove={() => set({ stack: draft.stack.filter((one) => one.key !== rule.key) })}
          />
        ))}
        <div className={styles.add}>
          <Button size="sm" icon="plus" why={why} onClick={() => set({ stack: [...draft.stack, blankStack()] })}>
            {groupingTexts.add}
          </Button>
          {draft.stack.length === 0 ? null : <FieldHint>{groupingTexts.stackMatchHint}</FieldHint>}
        </div>
      </Card>
    </SettingsForm>
  )
}

const replaced = <R extends { key: string }>(rules: readonly R[], next: R): R[] =>
  rules.map((one) => (one.key === next.key ? next : one))

/** Moves the rule at `index` one place up. */
const raised = <R,>(rules: readonly R[], index: number): R[] =>
  rules.map((one, at) => (at === index - 1 ? (rules[index] ?? one) : at === index ? (rules[index - 1] ?? one) : one))
