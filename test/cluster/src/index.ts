export { type Cluster, type ClusterOptions, startCluster } from './cluster.ts'
export { type ClusterSettings, readClusterSettings } from './settings.ts'
