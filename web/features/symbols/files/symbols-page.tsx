import { getRouteApi } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import { ChooseProject, useProjectTitle } from '../../../frames/choose-project.tsx'
import { PageHead } from '../../../ui/page-head.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { BuildTools } from './build-tools.tsx'
import { DropZone } from './drop-zone.tsx'
import { Missing } from './missing.tsx'
import { symbolsTexts as texts } from './texts.ts'
import { Uploads } from './uploads.tsx'
import styles from './symbols-page.module.css'

const route = getRouteApi('/signed-in/shell/symbols')

/** Files that make frames readable: what is missing, uploads, and how builds send them. */
export function SymbolsPage() {
  const { project: projectId } = route.useSearch()
  const project = useProjectTitle(texts.title, projectId)
  return (
    <PageMain>
      <PageHead>
        <div>
          <h1>{texts.title}</h1>
          <p>{texts.lead}</p>
        </div>
      </PageHead>
      {projectId === undefined ? (
        <ChooseProject search={{}} pageOf={paths.symbols} />
      ) : (
        <div className={styles.page}>
          <Missing projectId={projectId} />
          <DropZone key={projectId} projectId={projectId} />
          <Uploads projectId={projectId} />
          {project === undefined ? null : <BuildTools project={project} />}
        </div>
      )}
    </PageMain>
  )
}
