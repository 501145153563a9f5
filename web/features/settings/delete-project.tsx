import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { paths } from '../../address/paths.ts'
import { call } from '../../api/call.ts'
import { reasonOf, useChange } from '../../api/change.ts'
import { operationQuery, type ProjectSettings } from '../../api/queries.ts'
import { useCan } from '../../common/can.ts'
import { commonTexts } from '../../common/texts.ts'
import { Bar } from '../../ui/bar.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Toolbar } from '../../ui/stack.tsx'
import { Minor } from '../../ui/text.tsx'
import { settingsTexts } from './texts.ts'
import styles from '../../common/settings.module.css'

const texts = settingsTexts.deletion

/** Deletes the project with everything it stores. */
export function DeleteProjectCard({ project }: { project: ProjectSettings }) {
  const [open, setOpen] = useState(false)
  const may = useCan('projects.delete')
  return (
    <Card title={texts.title}>
      <div className={styles.row}>
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
  const [typed, setTyped] = useState('')
  const [operationId, setOperationId] = useState<string | null>(null)
  const navigate = useNavigate()
  const client = useQueryClient()
  const remove = useChange({
    send: () =>
      call('DELETE /api/projects/:projectId', { params: { projectId: project.id }, body: { confirm: typed.trim() } }),
    same: () => project.id,
    // Its pages are left first: reading the project again would fail.
    touches: () => [],
    failed: null,
  })
  const ready = typed.trim() === project.slug
  const submit = () => {
    if (!ready || remove.isPending) return
    remove.mutate(undefined, { onSuccess: ({ id }) => setOperationId(id) })
  }
  const leave = () => {
    onClose()
    void navigate(paths.issues()).then(() => client.invalidateQueries())
  }
  if (operationId !== null) return <Progress operationId={operationId} name={project.name} onClose={leave} />
  return (
    <Dialog open onClose={onClose} title={texts.heading(project.name)}>
      <p>{texts.text}</p>
      <Form onSubmit={submit}>
        <Field
          label={texts.confirm(project.slug)}
          error={remove.error === null ? undefined : reasonOf(remove.error)}
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Toolbar align="end">
          <Button onClick={onClose}>{commonTexts.cancel}</Button>
          <Button
            type="submit"
            look="danger"
            busy={remove.isPending}
            why={ready ? undefined : texts.confirm(project.slug)}
          >
            {texts.submit}
          </Button>
        </Toolbar>
      </Form>
    </Dialog>
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
