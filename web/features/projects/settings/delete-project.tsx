import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { paths } from '../../../address/paths.ts'
import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import { operationQuery, type ProjectSettings } from '../../../api/queries.ts'
import { useCan } from '../../../app/can.ts'
import { TypedConfirm } from '../../../forms/typed-confirm.tsx'
import { Bar } from '../../../ui/bar.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { settingsTexts } from './texts.ts'
import styles from '../../../frames/settings.module.css'
import { classNames } from '../../../ui/class-names.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = settingsTexts.deletion

/** Deletes the project with everything it stores. */
export function DeleteProjectCard({ project }: { project: ProjectSettings }) {
  const [open, setOpen] = useState(false)
  const may = useCan('projects.delete')
  return (
    <Card title={texts.title}>
      <div className={classNames(styles.row, typeStyles.mediumNames, narrowStyles.wrapsAt600)}>
        <Minor as="p">{texts.lead}</Minor>
        <Button look="danger" why={may.why} onClick={() => setOpen(true)}>
          {texts.open}
        </Button>
      </div>
      {open ? <DeleteDialog project={project} onClose={() => setOpen(false)} /> : null}
    </Card>
  )
}

function DeleteDialog({ project, onClose }: { project: ProjectSettings; onClose: () => void }) {
  const [operationId, setOperationId] = useState<string | null>(null)
  const navigate = useNavigate()
  const client = useQueryClient()
  const remove = useChange({
    send: () =>
      call('DELETE /api/projects/:projectId', { params: { projectId: project.id }, body: { confirm: project.slug } }),
    same: () => project.id,
    // Its pages are left first: reading the project again would fail.
    touches: () => [],
    failed: null,
  })
  const leave = () => {
    onClose()
    void navigate(paths.issues()).then(() => client.invalidateQueries())
  }
  if (operationId !== null) return <Progress operationId={operationId} name={project.name} onClose={leave} />
  return (
    <TypedConfirm
      title={texts.heading(project.name)}
      text={texts.text}
      word={project.slug}
      submit={texts.submit}
      isBusy={remove.isPending}
      error={remove.error === null ? undefined : errorSentence(remove.error)}
      onConfirm={() => remove.mutate(undefined, { onSuccess: ({ id }) => setOperationId(id) })}
      onClose={onClose}
    />
  )
}

type Parts = { readonly parts: number; readonly parts_done: number }

const shareOf = (progress: Parts | undefined): number =>
  progress === undefined || progress.parts === 0 ? 0 : progress.parts_done / progress.parts

type ProgressProps = { operationId: string; name: string; onClose: () => void }

/** How far the deletion is. It continues when the dialog is closed. */
function Progress({ operationId, name, onClose }: ProgressProps) {
  const operation = useQuery({
    ...operationQuery(operationId),
    refetchInterval: ({ state }) => (state.data?.state === 'done' ? false : 1_000),
    meta: { quiet: true },
  })
  const isDone = operation.data?.state === 'done'
  return (
    <Dialog open onClose={onClose} title={isDone ? texts.done(name) : texts.running(name)}>
      {isDone ? null : <Bar share={shareOf(operation.data?.progress)} />}
      <p role="status">{isDone ? texts.doneText : texts.runningText}</p>
      <Toolbar align="end">
        <Button data-autofocus look={isDone ? 'primary' : 'plain'} onClick={onClose}>
          {texts.close}
        </Button>
      </Toolbar>
    </Dialog>
  )
}
