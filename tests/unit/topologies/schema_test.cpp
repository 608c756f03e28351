// SPDX-License-Identifier: Apache-2.0
// topology.schema.json is current, and names exactly the keys that the reader takes.
#include "topologies/schema.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/unit/topologies/helpers.h"

namespace ktpu::topo::testing {
namespace {

const std::string kFile = std::string(KTPU_SOURCE_DIR) + "/topologies/topology.schema.json";

TEST(Schema, FileIsCurrent) {
  if (std::getenv("KTPU_UPDATE_GOLDEN") != nullptr) std::ofstream(kFile) << schema_json();
  std::ifstream in(kFile);
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_TRUE(text.str() == schema_json()) << "run this test with KTPU_UPDATE_GOLDEN=1 to renew " << kFile;
}

using Json = nlohmann::json;

std::set<std::string> schema_keys(const Json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.at("properties").items()) keys.insert(key);
  keys.erase("include");  // resolved before the reader looks
  return keys;
}

// What the reader itself says when it meets a key that cannot be: its "allowed" list plus the keys that it
// knows but that belong to another choice.
std::set<std::string> reader_keys(const Overrides& overrides) {
  const std::string error = error_of(kGood, overrides);
  std::set<std::string> keys;
  const std::size_t at = error.find("unknown key 'zzz_no_key'; allowed: ");
  EXPECT_NE(at, std::string::npos) << error;
  if (at == std::string::npos) return keys;
  std::stringstream list(error.substr(at + 35));
  for (std::string key; std::getline(list, key, ',');) keys.insert(key.substr(key.find_first_not_of(' ')));
  return keys;
}

TEST(Schema, SameKeysAsTheReader) {
  const Json schema = Json::parse(schema_json());
  EXPECT_EQ(schema_keys(schema), reader_keys({"zzz_no_key=1"}));
  const Json& mesh = schema.at("properties").at("meshes").at("items");
  EXPECT_EQ(schema_keys(mesh), reader_keys({"meshes.0.zzz_no_key=1"}));
  const auto of_mesh = [&](const char* key) -> const Json& {
    const Json& type = mesh.at("properties").at(key);
    return type.contains("oneOf") ? type.at("oneOf").at(0) : type;
  };
  EXPECT_EQ(schema_keys(of_mesh("router")), reader_keys({"meshes.0.router.zzz_no_key=1"}));
  EXPECT_EQ(schema_keys(of_mesh("agent")), reader_keys({"meshes.0.agent.zzz_no_key=1"}));
  std::set<std::string> dram = reader_keys({"meshes.0.dram.zzz_no_key=1"});
  dram.merge(reader_keys({"meshes.0.dram.zzz_no_key=1", "meshes.0.dram.model=banked"}));
  EXPECT_EQ(schema_keys(of_mesh("dram")), dram);
  EXPECT_EQ(schema_keys(schema.at("properties").at("host")),
            reader_keys({"host={kind: script, zzz_no_key: 1}"}));
  EXPECT_EQ(schema_keys(schema.at("properties").at("host").at("properties").at("script")),
            reader_keys({"host={script: {zzz_no_key: 1}}"}));

  const Json& kinds = of_mesh("units").at("patternProperties").begin()->at("oneOf");
  std::set<std::string> all;
  for (const Json& kind : kinds) {
    const std::string word = kind.at("properties").at("kind").at("const");
    SCOPED_TRACE(word);
    std::string more;
    if (word == "traffic") more = ", pattern: hotspot, hotspot: \"3,2\"";
    const std::set<std::string> keys =
        reader_keys({"meshes.0.units.src={kind: " + word + more + ", zzz_no_key: 1}"});
    EXPECT_EQ(schema_keys(kind), keys);
    all.insert(keys.begin(), keys.end());
  }
  EXPECT_EQ(kinds.size(), 5u);
  all.erase("kind");
  EXPECT_EQ(schema_keys(*of_mesh("nodes").at("patternProperties").begin()), all);
}

}  // namespace
}  // namespace ktpu::topo::testing
