import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { ApisPage } from './apis/list-page.tsx'
import { readApiPageSearch } from './apis/page/search.ts'
import { readApiSearch } from './apis/search.ts'
import { readAuditSearch, readProofsSearch } from './audit/search.ts'
import { readEnvironmentSearch } from './environments/search.ts'
import { readEventsSearch } from './events/search.ts'
import { CONSOLE_PATH } from './http/place.ts'
import { session } from './http/session.ts'
import { readJobSearch } from './jobs/search.ts'
import { readLoginSearch } from './login/search.ts'
import { readOperationsSearch } from './operations/search.ts'
import { readTokenSearch, readUserSearch } from './people/search.ts'
import { areasOf } from './shell/areas.ts'
import { NotFound, PageFailed, PagePending } from './shell/page-states.tsx'
import { Shell } from './shell/shell.tsx'
import { readSystemSearch } from './system/search.ts'
import { readDeliverySearch, readOneDeliverySearch } from './webhooks/deliveries/search.ts'
import { readNewWebhookSearch, readWebhookSearch, readWebhooksSearch } from './webhooks/search.ts'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound })

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: readLoginSearch,
  component: lazyRouteComponent(() => import('./login/login-page.tsx'), 'LoginPage'),
})

/** All pages but the login. The frame and the first page are in the first file, because one file is smaller than many. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad({ location }) {
    if (!session.current()) throw redirect({ to: '/login', search: { next: location.href } })
  },
  component: Shell,
})

const home = createRoute({
  getParentRoute: () => inside,
  path: '/',
  beforeLoad() {
    const current = session.current()
    const [first] = current ? areasOf(current) : []
    // Without an area the frame says so.
    if (first) throw redirect({ to: first.to, replace: true })
  },
})

const apis = createRoute({
  getParentRoute: () => inside,
  path: '/apis',
  validateSearch: readApiSearch,
  component: ApisPage,
})

const newApi = createRoute({
  getParentRoute: () => inside,
  path: '/apis/new',
  component: lazyRouteComponent(() => import('./apis/form/create-page.tsx'), 'CreateApiPage'),
})

const api = createRoute({
  getParentRoute: () => inside,
  path: '/apis/$apiId',
  validateSearch: readApiPageSearch,
  component: lazyRouteComponent(() => import('./apis/page/api-page.tsx'), 'ApiPage'),
})

const editApi = createRoute({
  getParentRoute: () => inside,
  path: '/apis/$apiId/edit',
  component: lazyRouteComponent(() => import('./apis/form/edit-page.tsx'), 'EditApiPage'),
})

const importApis = createRoute({
  getParentRoute: () => inside,
  path: '/apis/import',
  component: lazyRouteComponent(() => import('./apis/import/import-page.tsx'), 'ImportPage'),
})

const jobs = createRoute({
  getParentRoute: () => inside,
  path: '/jobs',
  validateSearch: readJobSearch,
  component: lazyRouteComponent(() => import('./jobs/jobs-page.tsx'), 'JobsPage'),
})

const job = createRoute({
  getParentRoute: () => inside,
  path: '/jobs/$jobId',
  component: lazyRouteComponent(() => import('./jobs/job-page.tsx'), 'JobPage'),
})

const operations = createRoute({
  getParentRoute: () => inside,
  path: '/operations',
  validateSearch: readOperationsSearch,
  component: lazyRouteComponent(() => import('./operations/operations-page.tsx'), 'OperationsPage'),
})

const environments = createRoute({
  getParentRoute: () => inside,
  path: '/environments',
  validateSearch: readEnvironmentSearch,
  component: lazyRouteComponent(() => import('./environments/environments-page.tsx'), 'EnvironmentsPage'),
})

const webhooks = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks',
  validateSearch: readWebhooksSearch,
  component: lazyRouteComponent(() => import('./webhooks/list-page.tsx'), 'WebhooksPage'),
})

const newWebhook = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/new',
  validateSearch: readNewWebhookSearch,
  component: lazyRouteComponent(() => import('./webhooks/new-page.tsx'), 'NewWebhookPage'),
})

const webhook = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/$webhookId',
  validateSearch: readWebhookSearch,
  component: lazyRouteComponent(() => import('./webhooks/webhook-page.tsx'), 'WebhookPage'),
})

const editWebhook = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/$webhookId/edit',
  component: lazyRouteComponent(() => import('./webhooks/edit-page.tsx'), 'EditWebhookPage'),
})

const deliveries = createRoute({
  getParentRoute: () => inside,
  path: '/deliveries',
  validateSearch: readDeliverySearch,
  component: lazyRouteComponent(() => import('./webhooks/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
})

const delivery = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/$webhookId/deliveries/$deliveryId',
  validateSearch: readOneDeliverySearch,
  component: lazyRouteComponent(() => import('./webhooks/deliveries/delivery-page.tsx'), 'DeliveryPage'),
})

const events = createRoute({
  getParentRoute: () => inside,
  path: '/events',
  validateSearch: readEventsSearch,
  component: lazyRouteComponent(() => import('./events/page.tsx'), 'EventsPage'),
})

const audit = createRoute({
  getParentRoute: () => inside,
  path: '/audit',
  validateSearch: readAuditSearch,
  component: lazyRouteComponent(() => import('./audit/page.tsx'), 'AuditPage'),
})

const proofs = createRoute({
  getParentRoute: () => inside,
  path: '/audit/proofs',
  validateSearch: readProofsSearch,
  component: lazyRouteComponent(() => import('./audit/proofs-page.tsx'), 'ProofsPage'),
})

/** Any other path, within the frame. */
const unknown = createRoute({ getParentRoute: () => inside, path: '$', component: NotFound })

const users = createRoute({
  getParentRoute: () => inside,
  path: '/users',
  validateSearch: readUserSearch,
  component: lazyRouteComponent(() => import('./people/users-page.tsx'), 'UsersPage'),
})

const newUser = createRoute({
  getParentRoute: () => inside,
  path: '/users/new',
  component: lazyRouteComponent(() => import('./people/new-user-page.tsx'), 'NewUserPage'),
})

const user = createRoute({
  getParentRoute: () => inside,
  path: '/users/$userId',
  component: lazyRouteComponent(() => import('./people/user-page.tsx'), 'UserPage'),
})

const tokens = createRoute({
  getParentRoute: () => inside,
  path: '/tokens',
  validateSearch: readTokenSearch,
  component: lazyRouteComponent(() => import('./people/tokens-page.tsx'), 'TokensPage'),
})

const newToken = createRoute({
  getParentRoute: () => inside,
  path: '/tokens/new',
  component: lazyRouteComponent(() => import('./people/new-token-page.tsx'), 'NewTokenPage'),
})

const ruleSets = createRoute({
  getParentRoute: () => inside,
  path: '/rule-sets',
  component: lazyRouteComponent(() => import('./rules/rule-sets-page.tsx'), 'RuleSetsPage'),
})

const newRuleSet = createRoute({
  getParentRoute: () => inside,
  path: '/rule-sets/new',
  component: lazyRouteComponent(() => import('./rules/new-rule-set-page.tsx'), 'NewRuleSetPage'),
})

const ruleSet = createRoute({
  getParentRoute: () => inside,
  path: '/rule-sets/$ruleSetId',
  component: lazyRouteComponent(() => import('./rules/rule-set-page.tsx'), 'RuleSetPage'),
})

const system = createRoute({
  getParentRoute: () => inside,
  path: '/system',
  validateSearch: readSystemSearch,
  component: lazyRouteComponent(() => import('./system/system-page.tsx'), 'SystemPage'),
})

const signingKeys = createRoute({
  getParentRoute: () => inside,
  path: '/system/keys',
  component: lazyRouteComponent(() => import('./system/keys-page.tsx'), 'KeysPage'),
})

const tree = root.addChildren([
  login,
  inside.addChildren([
    home,
    apis,
    newApi,
    api,
    editApi,
    importApis,
    operations,
    environments,
    jobs,
    job,
    webhooks,
    newWebhook,
    webhook,
    editWebhook,
    deliveries,
    delivery,
    users,
    newUser,
    user,
    tokens,
    newToken,
    ruleSets,
    newRuleSet,
    ruleSet,
    system,
    signingKeys,
    events,
    audit,
    proofs,
    unknown,
  ]),
])

export const router = createRouter({
  routeTree: tree,
  basepath: CONSOLE_PATH,
  defaultErrorComponent: PageFailed,
  defaultPendingComponent: PagePending,
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
